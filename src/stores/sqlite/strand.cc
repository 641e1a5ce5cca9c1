// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/strand.h"

#include <memory>
#include <utility>

namespace tenure::sqlite {
namespace {

// After so many jobs the worker is offered to others.
constexpr int kJobsInARow = 16;

}  // namespace

// A worker's turn. An executor that ends destroys it unrun; then nothing will run here any more,
// and the jobs must go, because they keep what keeps this strand.
struct Strand::Turn {
  explicit Turn(std::shared_ptr<Strand> strand_in) noexcept : strand(std::move(strand_in)) {}
  ~Turn() {
    if (!is_taken) strand->give_up();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  std::shared_ptr<Strand> strand;
  bool is_taken = false;
};

void Strand::ask_for_turn() {
  executor_.run_blocking([turn = std::make_shared<Turn>(shared_from_this())] {
    turn->is_taken = true;
    turn->strand->drain();
  });
}

void Strand::give_up() noexcept {
  std::deque<Executor::Task> doomed;
  const std::lock_guard guard(mutex_);
  is_running_ = false;
  doomed.swap(jobs_);
}

void Strand::run(Executor::Task job) {
  {
    const std::lock_guard guard(mutex_);
    jobs_.push_back(std::move(job));
    if (std::exchange(is_running_, true)) return;
  }
  ask_for_turn();
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
  ask_for_turn();
}

}  // namespace tenure::sqlite
