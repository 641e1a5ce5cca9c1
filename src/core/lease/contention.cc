// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/contention.h"

#include "core/check.h"

#include <algorithm>

namespace tenure::core {

bool Contention::on_foreign(const ContentionTerms& terms, Instant now) {
  TENURE_CHECK(terms.rewrites > 0 && terms.quiet > Duration::zero());
  last_ = now;
  if (contended(now)) {
    TENURE_CHECK(pause_ > Duration::zero());
    // The others are not silent yet: the time of silence starts anew, but it does not double.
    if (until_ != kNever) until_ = saturating_add(now, pause_);
    return false;
  }
  std::erase_if(foreign_, [&](Instant when) { return saturating_add(when, terms.window) <= now; });
  TENURE_CHECK(foreign_.size() < terms.rewrites);
  TENURE_CHECK(foreign_.empty() || foreign_.back() <= now);
  foreign_.push_back(now);
  const bool again = on_trial(terms, now);
  if (!again && foreign_.size() < terms.rewrites) return false;
  foreign_.clear();
  trials_ = again ? trials_ + 1 : 0;
  pause_ = again ? saturating_add(pause_, pause_) : terms.quiet;
  // Silence has lied often enough: it is a person's matter now.
  until_ = trials_ < terms.trials ? saturating_add(now, pause_) : kNever;
  TENURE_CHECK(contended(now));
  return true;
}

void Contention::on_new_wish(Instant now) noexcept {
  foreign_.clear();
  until_ = kLongAgo;
  pause_ = Duration::zero();
  trials_ = 0;
  last_ = now;
}

// After a contention ended by silence, one foreign value is enough, until it was quiet once more.
bool Contention::on_trial(const ContentionTerms& terms, Instant now) const noexcept {
  return pause_ > Duration::zero() && until_ != kLongAgo &&
         now < saturating_add(until_, saturating_add(pause_, terms.quiet));
}

Instant Contention::forgettable(const ContentionTerms& terms) const noexcept {
  const Instant quiet = saturating_add(last_, std::max(terms.quiet, terms.window));
  if (until_ == kLongAgo) return quiet;
  return std::max(quiet, saturating_add(until_, saturating_add(pause_, terms.quiet)));
}

}  // namespace tenure::core
