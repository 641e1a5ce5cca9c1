// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <functional>

namespace tenure::test {

/// How long a test waits for something that should happen at once: far more than a loaded machine
/// with sanitizers needs, so that only a fault reaches it.
inline constexpr Duration kPatience = std::chrono::seconds(20);

/// Waits in real time until `condition` holds (true) or `limit` has passed (false). Looks every
/// millisecond; between two looks the thread is in poll(2), which `wake_fd` ends early by becoming
/// readable (-1: nothing does). The condition is looked at once more after the limit.
///
///     ASSERT_TRUE(eventually([&] { return election.state() == State::leading; }));
///
/// For what happens in another thread or process. Whatever a manual clock can decide is decided
/// by a manual clock.
[[nodiscard]] bool eventually(const std::function<bool()>& condition, Duration limit = kPatience,
                              int wake_fd = -1);

/// Real time that has passed since the object was made, on CLOCK_BOOTTIME. For measuring in tests.
class Stopwatch {
 public:
  Stopwatch() noexcept;
  [[nodiscard]] Duration elapsed() const noexcept;

 private:
  Instant start_;
};

}  // namespace tenure::test
