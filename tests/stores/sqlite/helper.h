// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tenure::test {

/// Another process, see helper_main.cc. Killed and reaped with the object, at the latest.
class Helper {
 public:
  Helper(const std::string& verb, const std::string& path,
         std::vector<std::string> wrapped_in = {});
  ~Helper();
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  /// The next line that it says; empty if it ended, or said nothing for 20 s.
  [[nodiscard]] std::string line();
  /// Lets it go on.
  void go();
  /// Kills it, and does not wait.
  void kill() const;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
};

}  // namespace tenure::test
