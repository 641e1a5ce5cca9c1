// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/validity.h"

#include "core/check.h"

#include <algorithm>

namespace tenure::core {

Instant valid_until(Instant sent_at, Duration ttl, double drift) noexcept {
  TENURE_CHECK(drift >= 0 && drift <= 1);
  if (ttl <= Duration::zero()) return kLongAgo;
  // A double holds 53 bits: the rounding of a long ttl must not lengthen it.
  const Duration lost = saturating_add(scale(ttl, drift), Duration(1));
  const Duration trusted = drift > 0 ? saturating_add(ttl, -std::min(lost, ttl)) : ttl;
  TENURE_CHECK(trusted >= Duration::zero() && trusted <= ttl);
  return saturating_add(sent_at, trusted);
}

Instant surely_ended(Instant seen_at, Duration ttl, double drift) noexcept {
  TENURE_CHECK(drift >= 0 && drift <= 1);
  const Duration span = std::max(ttl, Duration::zero());
  const Duration extra = saturating_add(scale(span, drift), Duration(1));
  return saturating_add(seen_at, saturating_add(span, extra));
}

Instant on_grid(Instant earliest, Instant latest, Duration step, Duration phase) noexcept {
  TENURE_CHECK(earliest <= latest);
  if (step <= Duration::zero() || latest == kNever) return latest;
  const Duration into = saturating_add(latest.time_since_epoch(), -phase) % step;
  const Duration back = into < Duration::zero() ? into + step : into;
  TENURE_CHECK(back >= Duration::zero() && back < step);
  return std::max(earliest, saturating_sub(latest, back));
}

}  // namespace tenure::core
