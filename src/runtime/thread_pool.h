// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/real_time.h"

#include <tenure/executor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

namespace tenure::runtime {

/// Starts a thread of the library: named, and with all signals blocked but those of faults, so that
/// the user's threads alone handle them. unavailable: the system has no thread left.
[[nodiscard]] Result<std::thread> start_thread(const char* name, std::function<void()> body);

/// A queue of tasks and up to a fixed number of threads, started as they are needed: the first by
/// start(), so that there always is one.
///
/// Thread-safety: run() from any thread; the rest from one, which may be one of its own.
class ThreadPool {
 public:
  using Task = Executor::Task;

  ThreadPool(const char* name, std::size_t most_threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  /// Abandons the threads that join_until() has not joined.
  ~ThreadPool();

  /// `kept` lives as long as any thread does, abandoned ones included.
  Result<void> start(std::shared_ptr<const void> kept);

  void run(Task task);

  /// Accepts nothing any more and destroys, unrun, what is queued.
  void end() noexcept;

  /// After end(): joins the threads; those whose task has not returned at `limit` are abandoned.
  /// Returns how many that were.
  std::size_t join_until(RealTime limit) noexcept;

 private:
  struct State;
  static Result<void> add_thread(const std::shared_ptr<State>& state);
  static void work(State& state, std::size_t slot);

  std::shared_ptr<State> state_;
};

}  // namespace tenure::runtime
