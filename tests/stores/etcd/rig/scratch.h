// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tenure::test {

/// A new, empty folder for servers' data, gone with the object. In memory (/dev/shm) if there is
/// room for `room` bytes, else below TMPDIR or /tmp. What a test program that crashed has left
/// there, the next one removes.
class ScratchDir {
 public:
  explicit ScratchDir(std::uint64_t room = 0);
  /// Below `base` instead.
  explicit ScratchDir(const std::filesystem::path& base);
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The path of `name` in the folder; nothing is created.
  [[nodiscard]] std::string operator/(std::string_view name) const;

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // held while the folder is in use
};

}  // namespace tenure::test
