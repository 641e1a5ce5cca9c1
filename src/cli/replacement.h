// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tenure::cli {

/// A file that keeps its old content until the new one is complete: that is written beside it and
/// then takes its name. What is no regular file (a pipe, /dev/stdout) is written directly.
class Replacement {
 public:
  explicit Replacement(std::string path) : target_(std::move(path)) {}
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// Whether it can be written, as far as that can be known now; leaves nothing behind.
  std::error_code prepare();
  std::error_code write(std::string_view content);

 private:
  std::error_code open_direct();
  std::error_code open_beside();
  std::error_code write_and_close(std::string_view content);

  std::filesystem::path target_;
  std::string beside_;
  mode_t mode_ = 0;
  int fd_ = -1;
};

}  // namespace tenure::cli
