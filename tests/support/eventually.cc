// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/eventually.h"

#include <ctime>
#include <poll.h>

namespace tenure::test {
namespace {

Instant boot_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return Instant(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace

bool eventually(const std::function<bool()>& condition, Duration limit, int wake_fd) {
  const Instant end = saturating_add(boot_now(), limit);
  while (true) {
    if (condition()) return true;
    if (boot_now() >= end) return condition();
    pollfd wake{wake_fd, POLLIN, 0};
    ::poll(&wake, 1, 1);
  }
}

Stopwatch::Stopwatch() noexcept : start_(boot_now()) {}

Duration Stopwatch::elapsed() const noexcept { return saturating_between(start_, boot_now()); }

}  // namespace tenure::test
