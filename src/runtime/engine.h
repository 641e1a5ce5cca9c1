// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rng.h"
#include "runtime/run_callback.h"
#include "runtime/thread_pool.h"

#include <tenure/runtime.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace tenure::runtime {

class Loop;

/// What a Runtime owns and shares: loop, workers, callback threads. Whoever may be called after the
/// Runtime has gone (a store, a thread in code that did not return) holds the engine, not the
/// Runtime; after shut_down() every call on it is harmless and does nothing.
///
/// Thread-safety: as Runtime.
class Engine final : public Executor, public std::enable_shared_from_this<Engine> {
 public:
  /// `options` have been checked.
  [[nodiscard]] static Result<std::shared_ptr<Engine>> create(const RuntimeOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() override;

  [[nodiscard]] Clock& clock() noexcept override { return clock_; }
  void post(Task task) override;
  void run_blocking(Task task) override;
  [[nodiscard]] std::unique_ptr<Handle> at(Instant when, Task task) override;
  [[nodiscard]] Result<std::unique_ptr<Handle>> on_readable(int fd, Task task) override;
  [[nodiscard]] std::uint64_t random() noexcept override;

  /// Shifts the grid on which the renewals of this process fall together, so that many processes do
  /// not renew at the same instant.
  [[nodiscard]] Duration renew_phase() const noexcept { return renew_phase_; }

  void call_back(Task task);
  [[nodiscard]] int fd() const noexcept;
  std::size_t poll();
  [[nodiscard]] Threads threads() const noexcept { return threads_; }

  /// True in a child that was forked from the process that made the engine: its threads are not
  /// here, and its descriptors are the parent's.
  [[nodiscard]] bool in_forked_child() const noexcept;

  /// Whether the calling thread is the loop's (caller-driven: is in poll()).
  [[nodiscard]] bool on_loop() const noexcept;

  /// After shut_down(): nothing that is asked for happens any more.
  [[nodiscard]] bool ended() const noexcept { return shut_down_.load(); }

  /// Ends everything; within about a second, whatever callbacks do. From any thread, twice.
  void shut_down() noexcept;

 private:
  /// Tasks that poll() runs outside the loop's own round.
  class InlineQueue {
   public:
    void push(Task task);
    void end() noexcept;
    [[nodiscard]] bool empty() const;
    std::size_t run(std::size_t most);

   private:
    mutable std::mutex mutex_;
    bool ended_ = false;
    std::deque<Task> tasks_;
  };

  Engine(const RuntimeOptions& options, Clock& clock, std::shared_ptr<Loop> loop,
         std::uint64_t seed);
  Result<void> start();
  std::size_t poll_rounds();

  const Threads threads_;
  const ExceptionReport on_exception_;
  Clock& clock_;
  const std::shared_ptr<Loop> loop_;

  std::mutex random_mutex_;
  core::Rng random_;
  const Duration renew_phase_;

  ThreadPool workers_;
  ThreadPool callbacks_;
  std::thread loop_thread_;

  InlineQueue inline_blocking_;
  InlineQueue inline_callbacks_;
  std::atomic<bool> polling_{false};
  std::atomic<std::thread::id> poll_thread_{};
  std::atomic<bool> shut_down_{false};
};

/// The engine of a runtime, for what must outlive it.
[[nodiscard]] std::shared_ptr<Engine> engine_of(Runtime& runtime) noexcept;

}  // namespace tenure::runtime
