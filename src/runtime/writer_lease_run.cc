// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/writer_lease_engine.h"

#include "runtime/fatal.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tenure::runtime {
namespace {

// How long a worker without work looks for some before it sleeps: about 20 us, which is what
// putting a thread to sleep and waking it costs.
constexpr int kMostSpins = 1000;
constexpr int kCostOfALook = 50;

const int kSpinBudget = std::thread::hardware_concurrency() > 1 ? kMostSpins : 0;

}  // namespace

void WriterLeaseEngine::serve() {
  OnThread mark(this);
  int budget = kSpinBudget;
  Instant now = clock_.now();
  enter();
  while (!ended_.load(std::memory_order_relaxed)) {
    const bool ran = run_next(mark, now);
    // Work that forked has come back in the child.
    if (in_forked_child()) return;
    if (ran) {
      budget = kSpinBudget;
    } else {
      if (!spin(budget)) wait_for_work();
      now = clock_.now();
    }
  }
  --threads_alive_;
  tell_waiters();
  leave();
}

// Inside, and again inside when it returns; outside while the work runs.
bool WriterLeaseEngine::run_next(OnThread& mark, Instant& now) {
  core::LeaseCore::Job job = or_fatal([&] { return core_.take(at(now)); });
  if (!job) return false;
  ++running_;
  mark.set_running(true);
  leave(Leaving::worker);
  const WorkResult result = call(job);
  if (in_forked_child()) return false;
  if (!result.retry) job.work.reset();
  now = clock_.now();
  lock_.lock();
  drain(has_plenty() ? 1 : LeaseInbox::kCapacity);
  --running_;
  mark.set_running(false);
  complete(std::move(job), result, now);
  return true;
}

WorkResult WriterLeaseEngine::call(core::LeaseCore::Job& job) {
  try {
    return job.work();
  } catch (...) {
    report(job.key);
    return {WorkEffect::release, true};
  }
}

void WriterLeaseEngine::report(std::string_view key) {
  if (in_forked_child()) return;
  enter();
  ++threw_;
  leave(Leaving::worker);
  if (!options_.on_exception) return;
  try {
    options_.on_exception(key, std::current_exception());
  } catch (...) {
    enter();
    ++threw_;
    leave(Leaving::worker);
  }
}

void WriterLeaseEngine::complete(core::LeaseCore::Job job, WorkResult result, Instant now) {
  core::LeaseCore::Outcome outcome = or_fatal([&] {
    core::LeaseCore::Outcome done = core_.finish(std::move(job), result, at(now));
    if (done.ended.owns()) garbage_.push_back(std::move(done.ended));
    return done;
  });
  if (outcome.state_changed) {
    state_.store(core_.state().state());
    if (observer_ != nullptr) changes_.push_back(core_.state().state());
  }
  const bool ended = ended_.load(std::memory_order_relaxed);
  if (ended) abandon_into_garbage();
  if (outcome.resolved || ended) tell_waiters();
  if (!changes_.empty() && !telling_) tell_observer();
}

void WriterLeaseEngine::tell_observer() {
  telling_ = true;
  while (!changes_.empty()) {
    const WriterState state = changes_.front();
    changes_.pop_front();
    Observer observer = observer_;
    if (observer == nullptr) continue;
    leave(Leaving::worker);
    try {
      (*observer)(state);
    } catch (...) {
      report({});
    }
    observer.reset();
    if (in_forked_child()) return;
    enter();
  }
  telling_ = false;
}

// True if there may be something again: look.
bool WriterLeaseEngine::spin(int& budget) {
  if (spinning_ || budget <= 0) return false;
  spinning_ = true;
  const LeaseLock::Word left = leave(Leaving::worker);
  while (budget > 0 && lock_.word() == left && !inbox_.ready()) {
    --budget;
    pause_briefly();
  }
  budget -= kCostOfALook;
  enter();
  spinning_ = false;
  return true;
}

void WriterLeaseEngine::wait_for_work() {
  const Instant due = core_.next_due();
  if (due != armed_) arm(due);
  ++sleepers_;
  leave();
  const std::array<int, 3> fds{bell_.fd(), timer_->fd(), end_.fd()};
  wait_for_any(fds);
  const bool woken = bell_.take();
  enter();
  --sleepers_;
  if (woken) note_woken();
  // A timer that has fired stays readable until it is armed anew.
  if (armed_ != kNever && armed_ <= clock_.now()) arm(kNever);
}

void WriterLeaseEngine::note_woken() noexcept {
  if (rung_ > 0) --rung_;
}

std::size_t WriterLeaseEngine::poll() {
  if (!caller_driven()) return 0;
  OnThread mark(this);
  enter();
  ++threads_alive_;
  if (bell_.take()) note_woken();
  if (armed_ != kNever && armed_ <= clock_.now()) arm(kNever);
  // No more than there is now: work that submits work must not keep the caller here for ever.
  const std::size_t most = std::max<std::size_t>(core_.size(), 1);
  std::size_t ran = 0;
  Instant now = clock_.now();
  while (ran < most && !is_over() && run_next(mark, now)) ++ran;
  if (in_forked_child()) return ran;
  --threads_alive_;
  if (is_over()) tell_waiters();
  leave();
  return ran;
}

}  // namespace tenure::runtime
