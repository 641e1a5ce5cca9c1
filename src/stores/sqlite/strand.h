// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>

#include <deque>
#include <memory>
#include <mutex>

namespace tenure::sqlite {

/// Runs blocking jobs one at a time and in order, on whichever worker is free. When the executor
/// has ended, jobs are destroyed without being run.
///
/// Thread-safety: run() may be called from any thread, from within a job too.
class Strand : public std::enable_shared_from_this<Strand> {
 public:
  explicit Strand(Executor& executor) : executor_(executor) {}

  void run(Executor::Task job);

  /// Called by a job: offer the worker (in caller-driven mode: the loop) to others before the next.
  void give_way();

 private:
  struct Turn;
  void ask_for_turn();
  void give_up() noexcept;
  void drain();
  [[nodiscard]] bool take(Executor::Task& job);
  [[nodiscard]] bool must_give_way();

  Executor& executor_;
  std::mutex mutex_;
  std::deque<Executor::Task> jobs_;
  bool is_running_ = false;
  bool gives_way_ = false;
};

}  // namespace tenure::sqlite
