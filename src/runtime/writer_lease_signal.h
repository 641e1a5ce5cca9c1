// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace tenure::runtime {

/// A descriptor of its own, closed at the end.
class OwnedFd {
 public:
  OwnedFd() noexcept = default;
  explicit OwnedFd(int fd) noexcept : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd();

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A count that threads can sleep on, in poll(2): readable while it is above zero.
class Signal {
 public:
  /// False from valid() if the process is out of descriptors.
  Signal() noexcept;
  [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(fd_); }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  void raise() const noexcept;
  /// Takes one from the count; false if it is zero.
  bool take() const noexcept;

 private:
  OwnedFd fd_;
};

/// Blocks until one of them is readable.
void wait_for_any(std::span<const int> fds) noexcept;

[[nodiscard]] bool is_readable(int fd) noexcept;

/// An epoll descriptor that is readable while one of them is; invalid if out of descriptors.
[[nodiscard]] OwnedFd readable_with(std::span<const int> fds) noexcept;

}  // namespace tenure::runtime
