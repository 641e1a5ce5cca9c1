// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "tests/support/eventually.h"

namespace tenure::test {

/// A program that a test has started. It is killed and reaped with the object, and by the kernel
/// when the test program dies, however that happens. It inherits no descriptor of the test.
/// One thread at a time.
class Child {
 public:
  struct Options {
    std::string log{};               // its output goes to LOG.out and LOG.err
    std::vector<std::string> env{};  // "NAME=value", on top of PATH, HOME and LC_ALL
    int held = -1;                   // a descriptor that becomes its number 3
  };

  /// `command`: the program's absolute path, and its arguments. A program that cannot be run ends
  /// with code 99.
  Child(std::vector<std::string> command, Options options);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Nothing happens if it has ended.
  void send(int signal) const;
  /// SIGKILL, and waits until it is gone.
  void kill();

  [[nodiscard]] bool running();
  /// The exit code, 1000 + n if signal n ended it, nothing if it still runs after `limit`.
  std::optional<int> wait(Duration limit = kPatience);

  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  /// The whole lines of its standard output so far.
  [[nodiscard]] std::vector<std::string> lines() const;
  /// The first line that satisfies `wanted`; nothing if none does within `limit`.
  [[nodiscard]] std::optional<std::string> wait_line(
      const std::function<bool(std::string_view)>& wanted, Duration limit = kPatience) const;

 private:
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<int> code_;
  std::string log_;
};

}  // namespace tenure::test
