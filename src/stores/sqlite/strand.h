// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>

#include <deque>
#include <memory>
#include <mutex>

namespace tenure::sqlite {

/// Runs blocking jobs one at a time and in order, on whichever worker is free.
///
/// Thread-safety: run() may be called from any thread, from within a job too.
class Strand : public std::enable_shared_from_this<Strand> {
 public:
  explicit Strand(Executor& executor) : executor_(executor) {}

  void run(Executor::Task job);

 private:
  void drain();

  Executor& executor_;
  std::mutex mutex_;
  std::deque<Executor::Task> jobs_;
  bool is_running_ = false;
};

}  // namespace tenure::sqlite
