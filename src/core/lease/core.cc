// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/core.h"

#include "core/check.h"

#include <algorithm>
#include <utility>

namespace tenure::core {

LeaseCore::LeaseCore(const LeaseTerms& terms, std::uint64_t seed) noexcept
    : terms_(terms),
      rest_(saturating_add(terms.backoff.first, terms.backoff.first)),
      state_(terms, seed) {
  TENURE_CHECK(terms.lease > Duration::zero());
  TENURE_CHECK(terms.retry_interval >= Duration::zero());
  TENURE_CHECK(rest_ >= Duration::zero());
}

// The lease itself is asked when work is taken, since it may end or be prolonged meanwhile.
WorkQueue::Start LeaseCore::start() const noexcept {
  return state_.state() == WriterState::following ? WorkQueue::Start::rested
                                                  : WorkQueue::Start::at_once;
}

Instant LeaseCore::rested_at(Instant now) const noexcept { return saturating_add(now, rest_); }

Work LeaseCore::count(Work replaced) noexcept {
  ++counters_.submitted;
  if (replaced) ++counters_.replaced;
  return replaced;
}

Work LeaseCore::submit(std::string_view key, std::uint32_t hash, Work work, Instant now) {
  return count(queue_.put(key, hash, std::move(work), start(), rested_at(now)));
}

Work LeaseCore::submit(KeyText&& key, std::uint32_t hash, Work work, Instant now) {
  return count(queue_.put(std::move(key), hash, std::move(work), start(), rested_at(now)));
}

WorkQueue::Dropped LeaseCore::extend(std::string_view key, std::uint32_t hash, Instant now) {
  WorkQueue::Dropped dropped = queue_.drop(key, hash, DropReason::seen_elsewhere);
  if (dropped.pending) state_.on_seen_elsewhere(now);
  TENURE_CHECK(dropped.pending || !dropped.work);
  if (dropped.work) ++counters_.seen_elsewhere;
  return dropped;
}

WorkQueue::Dropped LeaseCore::remove(std::string_view key, std::uint32_t hash) {
  WorkQueue::Dropped dropped = queue_.drop(key, hash, DropReason::removed);
  if (dropped.work) ++counters_.removed;
  return dropped;
}

void LeaseCore::expire() noexcept {
  state_.expire();
  if (state_.state() == WriterState::following) queue_.end_all_waits();
}

LeaseCore::Job LeaseCore::take(Instant now) {
  const bool following = state_.state() == WriterState::following;
  if (following && (probing_ || state_.holds_back(now))) return {};
  WorkQueue::Taken taken = queue_.take(now);
  if (taken.slot == WorkQueue::kNone) return {};
  TENURE_CHECK(taken.work);
  ++counters_.runs;
  if (following) {
    TENURE_CHECK(!probing_);
    probing_ = true;
    ++counters_.probes;
  }
  return {taken.slot, following, taken.key, std::move(taken.work)};
}

LeaseCore::Outcome LeaseCore::finish(Job job, WorkResult result, Instant now) {
  TENURE_CHECK(job);
  TENURE_CHECK(!job.probe || probing_);
  const WriterState before = state_.state();
  state_.on_result(result.effect, now);
  if (job.probe) probing_ = false;
  const bool changed = state_.state() != before;
  // What waited for the lease of another need not wait for our own.
  if (changed && state_.state() == WriterState::leading) queue_.end_rest();

  WorkQueue::Finished finished = queue_.finish(job.slot, std::move(job.work), result.retry,
                                               saturating_add(now, terms_.retry_interval));
  switch (finished.fate) {
    case WorkQueue::Fate::done:
      ++counters_.done;
      break;
    case WorkQueue::Fate::retried:
      ++counters_.retries;
      break;
    case WorkQueue::Fate::replaced:
      ++counters_.replaced;
      break;
    case WorkQueue::Fate::seen_elsewhere:
      ++counters_.seen_elsewhere;
      break;
    case WorkQueue::Fate::removed:
      ++counters_.removed;
      break;
  }
  TENURE_CHECK(state_.resolved() || !changed);
  TENURE_CHECK(finished.fate != WorkQueue::Fate::retried || !finished.work);
  if (changed) ++counters_.state_changes;
  return {changed, changed && before == WriterState::electing, std::move(finished.work)};
}

Instant LeaseCore::next_due() noexcept {
  const Instant next = queue_.next_due();
  if (next == kNever || state_.state() != WriterState::following) return next;
  return probing_ ? kNever : std::max(next, state_.expires());
}

Work LeaseCore::abandon_one() {
  Work work = queue_.take_any();
  if (work) ++counters_.abandoned;
  return work;
}

}  // namespace tenure::core
