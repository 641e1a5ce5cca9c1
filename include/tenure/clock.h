// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <memory>

namespace tenure {

/// A timer that an event loop can wait for: its descriptor becomes readable when the clock it came
/// from reaches the armed instant. One timer is used by one thread at a time.
class Timer {
 public:
  virtual ~Timer() = default;

  /// Readable (POLLIN) from the armed instant on, until the next arm(). Owned by the timer.
  [[nodiscard]] virtual int fd() const noexcept = 0;

  /// Arms for `when`, replacing what was armed and clearing a past firing. An instant that has
  /// passed fires at once; kNever disarms.
  virtual void arm(Instant when) noexcept = 0;
};

/// Where time comes from. Nothing in tenure reads a clock except through one of these, so that a
/// test (tenure::testkit::ManualClock) or a simulation can own time.
///
/// Thread-safety: all of Clock may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Boot time now. Never goes back. Costs about one clock_gettime.
  [[nodiscard]] virtual Instant now() const noexcept = 0;

  /// Wall time now, for display only.
  [[nodiscard]] virtual WallTime wall_now() const noexcept = 0;

  /// A new, disarmed timer on this clock. Null if the process is out of descriptors.
  [[nodiscard]] virtual std::unique_ptr<Timer> make_timer() = 0;
};

/// The machine's clock: CLOCK_BOOTTIME for now(), CLOCK_REALTIME for wall_now(), timerfd for
/// timers. Lives as long as the process.
Clock& system_clock() noexcept;

}  // namespace tenure
