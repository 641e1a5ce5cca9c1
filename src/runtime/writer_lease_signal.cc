// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/writer_lease_signal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tenure::runtime {
namespace {

constexpr std::size_t kMostFds = 4;

}  // namespace

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) close(fd_);
}

Signal::Signal() noexcept : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) {}

void Signal::raise() const noexcept {
  const std::uint64_t one = 1;
  while (write(fd_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

bool Signal::take() const noexcept {
  std::uint64_t count = 0;
  for (;;) {
    if (read(fd_.get(), &count, sizeof(count)) == sizeof(count)) return true;
    if (errno != EINTR) return false;
  }
}

void wait_for_any(std::span<const int> fds) noexcept {
  std::array<pollfd, kMostFds> polled{};
  const std::size_t count = std::min(fds.size(), kMostFds);
  for (std::size_t i = 0; i < count; ++i) polled[i] = {fds[i], POLLIN, 0};
  while (poll(polled.data(), count, -1) < 0 && errno == EINTR) {
  }
}

bool is_readable(int fd) noexcept {
  pollfd polled{fd, POLLIN, 0};
  return poll(&polled, 1, 0) == 1 && (polled.revents & POLLIN) != 0;
}

OwnedFd readable_with(std::span<const int> fds) noexcept {
  OwnedFd set(epoll_create1(EPOLL_CLOEXEC));
  for (const int fd : fds) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (!set || epoll_ctl(set.get(), EPOLL_CTL_ADD, fd, &event) != 0) return {};
  }
  return set;
}

}  // namespace tenure::runtime
