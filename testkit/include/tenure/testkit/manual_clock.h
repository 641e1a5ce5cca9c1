// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>

#include <memory>

namespace tenure::testkit {

/// A clock that stands still until a test moves it:
///
///     ManualClock clock;
///     auto timer = clock.make_timer();
///     timer->arm(clock.now() + 5s);
///     clock.advance(5s);                     // timer->fd() is readable now
///     clock.advance_wall(-1h);               // a wall clock step: now() does not move
///
/// Its timers are real descriptors (eventfd), so a real event loop waits on them just as it does
/// on the machine's. The default start is not zero, so that "zero" is never mistaken for "now".
///
/// Not promised: that whatever waits on a timer has run when advance() returns. With threads, wait
/// for what it does; without, use ManualExecutor.
///
/// Thread-safety: everything may be called from any thread; a timer from one thread at a time.
class ManualClock final : public Clock {
 public:
  /// 1000 s after boot, an odd number of nanoseconds.
  static constexpr Instant kDefaultStart{Duration{1'000'000'000'007}};
  /// 2026-01-01 00:00:00 UTC.
  static constexpr WallTime kDefaultWall{std::chrono::seconds{1'767'225'600}};

  explicit ManualClock(Instant start = kDefaultStart, WallTime wall = kDefaultWall);

  /// Timers may outlive their clock; nothing fires them any more then.
  ~ManualClock() override;

  ManualClock(const ManualClock&) = delete;
  ManualClock& operator=(const ManualClock&) = delete;

  [[nodiscard]] Instant now() const noexcept override;
  [[nodiscard]] WallTime wall_now() const noexcept override;
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override;

  /// Time passes: boot time and wall time move on by `step`, saturating, and every timer armed for
  /// an instant up to then becomes readable. A step that is not positive moves nothing.
  void advance(Duration step);

  /// As advance(), to an instant; one that has passed moves nothing.
  void advance_to(Instant when);

  /// Somebody sets the wall clock. Boot time does not move and no timer fires.
  void set_wall(WallTime wall);

  /// Steps the wall clock by `step`, either way. Boot time does not move and no timer fires.
  void advance_wall(Duration step);

  /// The earliest instant that a timer is armed for and has not fired; kNever if there is none.
  [[nodiscard]] Instant next_timer() const;

  struct State;  ///< Of the implementation.

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tenure::testkit
