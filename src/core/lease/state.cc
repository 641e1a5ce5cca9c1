// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/state.h"

#include "core/check.h"

#include <algorithm>
#include <cstdint>

namespace tenure::core {

LeaseState::LeaseState(const LeaseTerms& terms, std::uint64_t seed) noexcept
    : backoff_(terms.backoff), lease_(terms.lease), rng_(seed) {
  TENURE_CHECK(lease_ > Duration::zero());
  backoff_.limit = terms.lease;
}

void LeaseState::on_result(WorkEffect effect, Instant now) noexcept {
  switch (effect) {
    case WorkEffect::none:
      return;
    case WorkEffect::extend:
      if (state_ != WriterState::leading) tick_ = 0;
      state_ = WriterState::leading;
      expires_ = saturating_add(now, lease_);
      return;
    case WorkEffect::release:
      const bool again = state_ == WriterState::following;
      state_ = WriterState::following;
      back_off(again ? next_tick() : 0, now);
      return;
  }
}

void LeaseState::on_seen_elsewhere(Instant now) noexcept {
  if (state_ == WriterState::following) back_off(next_tick(), now);
}

std::uint32_t LeaseState::next_tick() const noexcept { return std::max(tick_, tick_ + 1); }

void LeaseState::back_off(std::uint32_t tick, Instant now) noexcept {
  TENURE_CHECK(state_ == WriterState::following);
  tick_ = tick;
  expires_ = saturating_add(now, backoff_.at(tick_, rng_));
  TENURE_CHECK(expires_ >= now && expires_ <= saturating_add(now, lease_));
}

}  // namespace tenure::core
