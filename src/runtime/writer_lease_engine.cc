// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/writer_lease_engine.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/fatal.h"

namespace tenure::runtime {
namespace {

core::LeaseTerms terms_of(const WriterLeaseOptions& options) {
  return {.lease = options.lease,
          .retry_interval = options.retry_interval,
          .backoff = {.first = options.backoff.first,
                      .factor = options.backoff.factor,
                      .jitter = options.backoff.jitter,
                      .steps = options.backoff.steps,
                      .limit = options.lease}};
}

// Longer than what was pushed takes to be seen by a worker on another processor.
constexpr int kLooksBeforeGoingIn = 16;
constexpr int kLooksBeforeSleeping = 100;
constexpr int kLooksBeforeSharing = 8;
// Some 50 us in which no worker has taken 32 pieces out.
constexpr int kLooksBeforeMakingRoom = 200;
constexpr int kPausesALook = 4;
constexpr int kMostPasses = 2;

}  // namespace

WriterLeaseEngine::WriterLeaseEngine(const WriterLeaseOptions& options, std::uint64_t seed)
    : options_(options),
      clock_(options.clock != nullptr ? *options.clock : system_clock()),
      timer_(clock_.make_timer()),
      core_(terms_of(options), seed) {}

Result<void> WriterLeaseEngine::try_work(std::string_view key, Work work) {
  if (!work) return fail(Errc::invalid_argument, "work: is empty");
  if (key.size() > core::KeyText::kLongest) {
    return fail(Errc::invalid_argument,
                "key: has " + std::to_string(key.size()) + " bytes, at most 65536 are accepted");
  }
  if (ended_.load(std::memory_order_acquire)) {
    return fail(Errc::closed, "the writer lease was stopped");
  }
  inbox_.expect();
  const std::uint32_t hash = core::hash_key(key);
  if (inbox_.seems_empty() && lock_.word() == calm_.load(std::memory_order_relaxed) &&
      lock_.try_lock()) {
    drain_all();
    if (ended_.load(std::memory_order_relaxed)) {
      leave();
      return fail(Errc::closed, "the writer lease was stopped");
    }
    const Work replaced =
        or_fatal([&] { return core_.submit(key, hash, std::move(work), time_if_following()); });
    leave();
    return {};
  }
  LeaseInbox::Key text(key);
  for (;;) {
    switch (inbox_.push(text, hash, work)) {
      case LeaseInbox::Push::behind:
        return {};
      case LeaseInbox::Push::first:
        see_to_inbox();
        return {};
      case LeaseInbox::Push::full:
        make_room();
        break;
    }
  }
}

// Somebody must look into the inbox: whoever is inside, does. If nobody is, and nobody comes, this
// thread does.
void WriterLeaseEngine::see_to_inbox() {
  const LeaseLock::Word seen = lock_.word();
  if (LeaseLock::held(seen)) return;
  for (int i = 0; i < kLooksBeforeGoingIn; ++i) {
    pause_briefly();
    if (lock_.word() != seen) return;
  }
  if (lock_.try_lock()) {
    drain(LeaseInbox::kCapacity);
    leave();
  }
}

// While workers keep taking pieces out, waiting for them is faster than going in: what is pending
// stays small then, and in their caches. When they are busy with long work, this thread goes in.
void WriterLeaseEngine::make_room() {
  const std::uint32_t shown = inbox_.shown();
  for (int i = 0; i < kLooksBeforeMakingRoom; ++i) {
    for (int j = 0; j < kPausesALook; ++j) pause_briefly();
    if (inbox_.shown() != shown) return;
    // Perhaps what is waited for is a worker that waits for this very processor.
    if (i >= kLooksBeforeSharing) std::this_thread::yield();
  }
  enter();
  leave();
}

bool WriterLeaseEngine::extend(std::string_view key) {
  const std::uint32_t hash = core::hash_key(key);
  enter();
  const core::WorkQueue::Dropped dropped =
      or_fatal([&] { return core_.extend(key, hash, time_if_following()); });
  leave();
  return dropped.pending;
}

std::size_t WriterLeaseEngine::extend_all(std::span<const std::string_view> keys) {
  std::size_t found = 0;
  while (!keys.empty()) {
    const auto batch = keys.first(std::min(keys.size(), kBatch));
    found += extend_batch(batch);
    keys = keys.subspan(batch.size());
  }
  return found;
}

// What is dropped is destroyed outside, at the end.
std::size_t WriterLeaseEngine::extend_batch(std::span<const std::string_view> keys) {
  std::array<core::WorkQueue::Dropped, kBatch> dropped;
  std::array<std::uint32_t, kBatch> hashes{};
  std::transform(keys.begin(), keys.end(), hashes.begin(), core::hash_key);
  std::size_t found = 0;
  enter();
  core_.expect(std::span(hashes).first(keys.size()));
  or_fatal([&] {
    const Instant now = time_if_following();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      dropped[i] = core_.extend(keys[i], hashes[i], now);
      if (dropped[i].pending) ++found;
    }
  });
  leave();
  return found;
}

bool WriterLeaseEngine::remove(std::string_view key) {
  const std::uint32_t hash = core::hash_key(key);
  enter();
  const core::WorkQueue::Dropped dropped = or_fatal([&] { return core_.remove(key, hash); });
  leave();
  return dropped.pending;
}

void WriterLeaseEngine::expire() {
  enter();
  core_.expire();
  leave();
}

std::size_t WriterLeaseEngine::size() {
  enter();
  const std::size_t size = core_.size();
  leave();
  return size;
}

WriterStatus WriterLeaseEngine::status() {
  enter();
  const core::LeaseState& lease = core_.state();
  const WriterStatus status{lease.state(), lease.expires(), lease.tick(), core_.size()};
  leave();
  return status;
}

WriterCounters WriterLeaseEngine::counters() {
  enter();
  WriterCounters counters = core_.counters();
  counters.threw = threw_;
  leave();
  return counters;
}

Instant WriterLeaseEngine::next_due() {
  enter();
  const Instant due = core_.next_due();
  leave();
  return due;
}

void WriterLeaseEngine::on_state_change(std::function<void(WriterState)> observer) {
  Observer held =
      observer ? std::make_shared<std::function<void(WriterState)>>(std::move(observer)) : nullptr;
  enter();
  held.swap(observer_);
  leave();
}

void WriterLeaseEngine::enter() {
  lock_.lock();
  drain_all();
}

// Out, and in again for what was left in the inbox while this thread was inside; but not for ever:
// a worker has work to run and will be back, a caller hands over to a worker if one sleeps.
LeaseLock::Word WriterLeaseEngine::leave(Leaving who) {
  std::shared_ptr<WriterLeaseEngine> self;
  for (int pass = 0;; ++pass) {
    if (sleepers_ > 0 || caller_driven()) wake_if_due();
    // With plenty to do a worker leaves the inbox alone, unless there is somebody to give it to.
    const bool helped = rung_ < sleepers_ || caller_driven();
    bool enough = who == Leaving::worker && (pass >= kMostPasses || (has_plenty() && !helped));
    if ((enough || pass >= kMostPasses) && rung_ < sleepers_ && inbox_.ready()) {
      ring();
      enough = true;
    }
    if (!enough) inbox_.show();
    LeaseLock::Word left = 0;
    if (garbage_.empty()) {
      left = lock_.unlock();
    } else {
      // What a capture's destructor does may end the last handle.
      self = weak_from_this().lock();
      const std::vector<Work> garbage = std::exchange(garbage_, {});
      left = lock_.unlock();
    }
    if (who == Leaving::caller) calm_.store(left, std::memory_order_relaxed);
    if (enough || !inbox_.ready() || !lock_.try_lock()) return left;
    drain(LeaseInbox::kCapacity);
  }
}

void WriterLeaseEngine::drain(std::uint32_t most) {
  if (!inbox_.ready()) return;
  const Instant now = time_if_following();
  inbox_.pop(most, has_plenty(), [&](core::KeyText&& key, std::uint32_t hash, Work&& work) {
    or_fatal([&] {
      Work replaced = core_.submit(std::move(key), hash, std::move(work), now);
      if (replaced.owns()) garbage_.push_back(std::move(replaced));
    });
  });
  if (ended_.load(std::memory_order_relaxed)) abandon_into_garbage();
}

// What this thread has left in the inbox itself must have its effect before what it does now. It
// may be behind a piece that another thread is just about to finish putting there, if it is let:
// to wait awake for a thread that waits for this processor would be for ever.
void WriterLeaseEngine::drain_all() {
  const std::uint32_t end = inbox_.end();
  for (int looks = 0; !inbox_.drained_to(end); ++looks) {
    drain(LeaseInbox::kCapacity);
    if (inbox_.drained_to(end)) return;
    if (looks < kLooksBeforeSleeping) {
      pause_briefly();
    } else {
      inbox_.wait_for_next();
    }
  }
}

void WriterLeaseEngine::abandon_into_garbage() {
  or_fatal([this] {
    while (Work work = core_.abandon_one()) garbage_.push_back(std::move(work));
  });
}

// Reading the clock costs as much as all the rest of a submission, and only a follower needs it.
Instant WriterLeaseEngine::time_if_following() {
  return core_.state().state() == WriterState::following ? at(clock_.now()) : kLongAgo;
}

// One sleeper at a time: it wakes the next if more is due when it has taken its piece.
void WriterLeaseEngine::wake_if_due() {
  const Instant due = core_.next_due();
  if (due == kNever) return;
  if (due != kLongAgo) {
    if (due < armed_) arm(due);
  } else if (!spinning_ && rung_ < (caller_driven() ? 1 : sleepers_)) {
    ring();
  }
}

void WriterLeaseEngine::ring() {
  ++rung_;
  bell_.raise();
}

void WriterLeaseEngine::arm(Instant due) {
  armed_ = due;
  timer_->arm(due);
}

}  // namespace tenure::runtime
