// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/contention.h"

#include "core/check.h"

#include <algorithm>

namespace tenure::core {

bool Contention::on_foreign(const ContentionTerms& terms, Instant now) {
  TENURE_CHECK(terms.rewrites > 0 && terms.quiet > Duration::zero());
  const bool still = contended(now);
  // Others that go on at once are one round of the fight; after silence it is somebody's new try.
  const bool same_round = still && now < saturating_add(last_foreign_, terms.quiet);
  const bool again = on_trial(terms, now);
  if (!still && !again && now >= saturating_add(last_foreign_, terms.forget_after)) lost_ = 0;
  last_ = last_foreign_ = now;
  if (until_ == kNever) return false;
  if (!same_round && ++lost_ >= terms.most) {
    // Silence has lied often enough: it is a person's matter now.
    foreign_.clear();
    until_ = kNever;
    return !still;
  }
  if (still) {
    TENURE_CHECK(pause_ > Duration::zero());
    // The others are not silent yet: the time of silence starts anew, but it does not double.
    until_ = saturating_add(now, pause_);
    return false;
  }
  std::erase_if(foreign_, [&](Instant when) { return saturating_add(when, terms.window) <= now; });
  TENURE_CHECK(foreign_.size() < terms.rewrites);
  TENURE_CHECK(foreign_.empty() || foreign_.back() <= now);
  foreign_.push_back(now);
  if (!again && foreign_.size() < terms.rewrites) return false;
  foreign_.clear();
  pause_ = again ? saturating_add(pause_, pause_) : terms.quiet;
  until_ = saturating_add(now, pause_);
  TENURE_CHECK(contended(now));
  return true;
}

void Contention::on_new_wish(Instant now) noexcept {
  foreign_.clear();
  until_ = kLongAgo;
  pause_ = Duration::zero();
  lost_ = 0;
  last_foreign_ = kLongAgo;
  last_ = now;
}

// After a contention ended by silence, one foreign value is enough, until it was quiet once more.
bool Contention::on_trial(const ContentionTerms& terms, Instant now) const noexcept {
  return pause_ > Duration::zero() && until_ != kLongAgo && until_ <= now &&
         now < saturating_add(until_, saturating_add(pause_, terms.quiet));
}

Instant Contention::forgettable(const ContentionTerms& terms) const noexcept {
  TENURE_CHECK(lost_ > 0 || until_ == kLongAgo);
  const Instant unused = saturating_add(last_, terms.forget_after);
  if (until_ == kLongAgo) return unused;
  return std::max(unused, saturating_add(until_, saturating_add(pause_, terms.quiet)));
}

}  // namespace tenure::core
