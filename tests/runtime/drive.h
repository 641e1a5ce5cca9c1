// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/eventually.h"

#include <tenure/runtime.h>

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace tenure::test {

/// A runtime for a test; aborts the program if there can be none.
[[nodiscard]] inline std::unique_ptr<Runtime> new_runtime(RuntimeOptions options = {}) {
  return std::move(Runtime::create(options)).value();
}

/// Waits for `condition`, in caller-driven mode by driving the runtime.
[[nodiscard]] inline bool drive_until(Runtime& runtime, const std::function<bool()>& condition) {
  return eventually(
      [&] {
        (void)runtime.poll();
        return condition();
      },
      kPatience, runtime.fd());
}

/// Waits until everything posted so far has run.
[[nodiscard]] inline bool settle(Runtime& runtime) {
  auto done = std::make_shared<std::atomic<bool>>(false);
  runtime.post([done] { *done = true; });
  return drive_until(runtime, [&] { return done->load(); });
}

/// A descriptor that a test makes readable.
class Signal {
 public:
  Signal() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Signal() { close(); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  void raise() const { ::eventfd_write(fd_, 1); }
  void clear() const {
    eventfd_t count = 0;
    ::eventfd_read(fd_, &count);
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

inline std::string name_of(const testing::TestParamInfo<Threads>& info) {
  return info.param == Threads::library ? "LibraryThreads" : "CallerDriven";
}

}  // namespace tenure::test
