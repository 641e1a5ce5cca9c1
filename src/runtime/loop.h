// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/timer_queue.h"

#include <tenure/executor.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <uv.h>

namespace tenure::runtime {

/// The event loop: posted tasks, timers and watched descriptors, run one at a time by whichever
/// thread is in run() or run_once(). Handles keep it alive, so they may outlive the Runtime.
///
/// Thread-safety: everything from any thread, but run() and run_once() from one at a time, and
/// close() when none is in them.
class Loop : public std::enable_shared_from_this<Loop> {
 public:
  using Task = Executor::Task;
  using Handle = Executor::Handle;

  [[nodiscard]] static Result<std::shared_ptr<Loop>> create(Clock& clock);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  void post(Task task);
  [[nodiscard]] std::unique_ptr<Handle> at(Instant when, Task task);
  [[nodiscard]] Result<std::unique_ptr<Handle>> on_readable(int fd, Task task);

  /// Makes fd() readable, and a waiting run() go round once.
  void wake();

  /// Runs tasks until end().
  void run();

  /// Runs what is due, `most` tasks at most, without waiting. What remains keeps fd() readable.
  std::size_t run_once(std::size_t most);

  /// Accepts nothing any more, and makes run() return after the task that it is in.
  void end() noexcept;
  [[nodiscard]] bool ended() const noexcept { return ended_.load(); }

  /// After end(): destroys, unrun, whatever is queued, and gives the descriptors back.
  void close() noexcept;

  /// Readable when run_once() has something to do. Valid until close().
  [[nodiscard]] int fd() const noexcept { return uv_backend_fd(&uv_); }

  /// Whether the calling thread is the one in run() or run_once().
  [[nodiscard]] bool on_loop() const noexcept {
    return thread_.load() == std::this_thread::get_id();
  }

  struct Watcher;  ///< Of the implementation.
  void cancel(const std::shared_ptr<Watcher>& watcher) noexcept;
  void cancel(const TimerQueue::Key& key) noexcept;

  /// True in a child forked from the process of this loop, where all of it is the parent's.
  [[nodiscard]] bool in_forked_child() const noexcept { return *in_parent_ == 0; }

 private:
  Loop(Clock& clock, std::unique_ptr<Timer> timer) noexcept;

  Result<void> open();
  Result<void> start(const std::shared_ptr<Watcher>& watcher);
  void start_late(const std::shared_ptr<Watcher>& watcher);
  void call(const std::shared_ptr<Watcher>& watcher);
  void stop(std::shared_ptr<Watcher> watcher) noexcept;
  void stop_all() noexcept;
  void wake_locked();
  void run_posted();
  void run_timers();
  void on_event(Watcher& watcher, int status);
  void run_one(Task task);

  const volatile unsigned char* const in_parent_;
  Clock& clock_;
  uv_loop_t uv_{};
  uv_async_t async_{};
  uv_poll_t timer_poll_{};
  bool open_ = false;

  TimerQueue timers_;
  std::atomic<bool> ended_{false};
  std::atomic<std::thread::id> thread_{};
  // Of the loop's thread: how many tasks may still run in this round, whether a watcher was started
  // that the kernel does not know yet, and what libuv watches, also if it should not any more.
  std::size_t budget_ = 0;
  bool started_some_ = false;
  std::unordered_map<int, std::shared_ptr<Watcher>> watchers_;

  std::mutex mutex_;
  bool accepting_ = false;
  bool woken_ = false;
  std::deque<Task> posted_;
  std::map<int, std::shared_ptr<Watcher>> watched_;
};

}  // namespace tenure::runtime
