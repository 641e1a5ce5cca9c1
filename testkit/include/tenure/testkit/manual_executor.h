// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>
#include <tenure/testkit/manual_clock.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace tenure::testkit {

/// An executor without threads: nothing runs but what the test runs, in an order that depends on
/// nothing but the calls and the seed.
///
///     ManualClock clock;
///     ManualExecutor executor(clock);
///     store->acquire(request, [&](auto reply) { answer = reply; });
///     executor.run_until_idle();             // posted tasks, due timers, blocking jobs
///     executor.advance(15s);                 // from due timer to due timer
///
/// It also runs on a real clock or with real descriptors (a store that watches files): then use
/// wait_until(), which waits in poll(2) for them with a limit in real time.
///
/// Several executors may share one clock: step() them by turns, up to the smallest next_due().
///
/// Not promised: an end. A task that posts itself for ever, or a descriptor that is never drained,
/// aborts the test with a message after kMostSteps tasks.
///
/// Thread-safety: what Executor declares may be called from any thread; the rest from the one
/// thread that is "the loop", never from within a task.
class ManualExecutor final : public Executor {
 public:
  static constexpr std::size_t kMostSteps = 1'000'000;

  /// Both references must outlive the executor. The same seed gives the same random().
  explicit ManualExecutor(ManualClock& clock, std::uint64_t seed = 1);
  /// On a clock that a test cannot move (system_clock()): advance() is refused by an abort.
  explicit ManualExecutor(Clock& clock, std::uint64_t seed = 1);

  /// Destroys whatever is queued without running it. Handles may outlive the executor.
  ~ManualExecutor() override;

  ManualExecutor(const ManualExecutor&) = delete;
  ManualExecutor& operator=(const ManualExecutor&) = delete;

  [[nodiscard]] Clock& clock() noexcept override;
  void post(Task task) override;
  void run_blocking(Task task) override;
  [[nodiscard]] std::unique_ptr<Handle> at(Instant when, Task task) override;
  [[nodiscard]] Result<std::unique_ptr<Handle>> on_readable(int fd, Task task) override;
  [[nodiscard]] std::uint64_t random() noexcept override;

  /// Runs posted tasks, timers that are due, readable descriptors and (unless held) blocking jobs
  /// until none is left. Time does not pass. Returns how many tasks ran.
  std::size_t run_until_idle();

  /// Runs until idle, then moves the clock to the next due timer not beyond now + `step` and runs
  /// again, and so on; at the end the clock stands at now + `step`. Each timer's task sees the
  /// clock at the very instant it was armed for.
  void advance(Duration step);

  /// Runs until idle, waiting for real descriptors, for tasks posted by other threads and for
  /// timers that the clock itself reaches, until `condition` holds (true), or until `real_limit`
  /// of real time has passed (false). Nothing sleeps: the wait is a poll(2).
  [[nodiscard]] bool wait_until(const std::function<bool()>& condition, Duration real_limit);

  /// The earliest instant of a timer that has not run; kNever if there is none.
  [[nodiscard]] Instant next_due() const;

  /// True: run_blocking() only queues, and the test runs each job by run_held_blocking(). False
  /// (the start): run_until_idle() runs them in order, and any that were held.
  void hold_blocking(bool hold);

  /// How many blocking jobs wait.
  [[nodiscard]] std::size_t blocking_count() const;

  /// Runs the blocking job at `index` (0: the oldest). False if there is none.
  bool run_held_blocking(std::size_t index = 0);

  /// As run_held_blocking(), but what the job posts stays aside until deliver_held_posts(): the
  /// work has been done and its answer is still on the way.
  bool run_held_blocking_without_answer(std::size_t index = 0);

  /// Posts what run_held_blocking_without_answer() kept aside, in order.
  void deliver_held_posts();

  struct State;  ///< Of the implementation.

 private:
  bool run_blocking_job(std::size_t index, bool hold_posts);
  bool run_one_round(std::size_t& steps);

  Clock& clock_;
  ManualClock* manual_ = nullptr;
  std::shared_ptr<State> state_;
};

}  // namespace tenure::testkit
