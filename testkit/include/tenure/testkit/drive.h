// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/runtime.h>
#include <tenure/testkit/manual_clock.h>

#include <cstddef>

/// Drives a caller-driven Runtime (Threads::caller) that runs on a ManualClock:
///
///     ManualClock clock;
///     auto runtime = Runtime::create({.threads = Threads::caller, .clock = &clock, .seed = 7});
///     ...
///     pass(**runtime, clock, 15s);           // as if 15 s had gone by, in microseconds
///
/// Thread-safety: as Runtime::poll(): one thread at a time.
namespace tenure::testkit {

/// Polls until nothing is left to do at the present instant: true. False: it never came to rest,
/// within a hundred thousand tasks.
[[nodiscard]] inline bool settle(Runtime& runtime) {
  constexpr std::size_t kMostTasks = 100'000;
  std::size_t tasks = 0;
  while (tasks < kMostTasks) {
    const std::size_t ran = runtime.poll();
    if (ran == 0) return true;
    tasks += ran;
  }
  return false;
}

/// Lets `time` pass on `clock`, stopping at each instant that a timer is armed for, so that
/// everything happens at the very instant it is due. Negative times are zero. False: it never came
/// to rest.
[[nodiscard]] inline bool pass(Runtime& runtime, ManualClock& clock, Duration time) {
  const Instant end = saturating_add(clock.now(), time);
  bool settled = settle(runtime);
  for (Instant next = clock.next_timer(); settled && next <= end && next != kNever;
       next = clock.next_timer()) {
    clock.advance_to(next);
    settled = settle(runtime);
  }
  clock.advance_to(end);
  return settled && settle(runtime);
}

}  // namespace tenure::testkit
