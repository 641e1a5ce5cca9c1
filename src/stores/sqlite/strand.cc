// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/strand.h"

#include <utility>

namespace tenure::sqlite {
namespace {

// After so many jobs the worker is offered to others.
constexpr int kJobsInARow = 16;

}  // namespace

void Strand::run(Executor::Task job) {
  {
    const std::lock_guard guard(mutex_);
    jobs_.push_back(std::move(job));
    if (std::exchange(is_running_, true)) return;
  }
  executor_.run_blocking([self = shared_from_this()] { self->drain(); });
}

void Strand::give_way() {
  const std::lock_guard guard(mutex_);
  gives_way_ = true;
}

bool Strand::take(Executor::Task& job) {
  const std::lock_guard guard(mutex_);
  if (jobs_.empty()) {
    is_running_ = false;
    return false;
  }
  job = std::move(jobs_.front());
  jobs_.pop_front();
  return true;
}

bool Strand::must_give_way() {
  const std::lock_guard guard(mutex_);
  return std::exchange(gives_way_, false);
}

void Strand::drain() {
  for (int done = 0; done < kJobsInARow && !must_give_way(); ++done) {
    Executor::Task job;
    if (!take(job)) return;
    job();
  }
  executor_.run_blocking([self = shared_from_this()] { self->drain(); });
}

}  // namespace tenure::sqlite
