// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/executor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace tenure::runtime {

/// All timers of one loop on one Timer of its clock, in the order of (instant, age).
/// Thread-safety: everything from any thread but run_due(), which is the loop's. Tasks are run and
/// destroyed without the lock.
class TimerQueue {
 public:
  using Task = Executor::Task;
  using Key = std::pair<Instant, std::uint64_t>;

  TimerQueue(Clock& clock, std::unique_ptr<Timer> timer) noexcept
      : clock_(clock), timer_(std::move(timer)) {}

  /// Readable when run_due() has something to do.
  [[nodiscard]] int fd() const noexcept { return timer_->fd(); }

  /// Arms the timer if need be, from whatever thread: the loop waits on fd() already.
  [[nodiscard]] Key add(Instant when, Task task);

  /// The task will not run any more. Of one that has run: nothing happens.
  void remove(const Key& key) noexcept;

  /// Runs what is due at the start of the call, `most` tasks at most, while `go_on()`; then arms
  /// for the next. Tasks that add due ones do not hold it up. Returns how many ran.
  std::size_t run_due(std::size_t most, const std::function<bool()>& go_on);

  /// Destroys every task without running it, now and from now on.
  void end() noexcept;

 private:
  [[nodiscard]] std::size_t count_due(Instant now) const;
  [[nodiscard]] Task take_due(Instant now);

  Clock& clock_;
  const std::unique_ptr<Timer> timer_;
  mutable std::mutex mutex_;
  bool ended_ = false;
  Instant armed_ = kNever;
  std::uint64_t next_age_ = 0;
  std::map<Key, Task> tasks_;
};

}  // namespace tenure::runtime
