// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/backoff.h"

#include "core/check.h"

#include <algorithm>

namespace tenure::core {
namespace {

Duration draw_up_to(Duration most, Rng& rng) noexcept {
  if (most <= Duration::zero()) return Duration::zero();
  return Duration(static_cast<Duration::rep>(rng.up_to(static_cast<std::uint64_t>(most.count()))));
}

}  // namespace

Duration StepBackoff::at(std::uint32_t step, Rng& rng) const noexcept {
  TENURE_CHECK(factor >= 1 && jitter >= 0);
  TENURE_CHECK(first >= Duration::zero() && limit >= Duration::zero());
  if (step > steps) return limit;
  Duration wait = first;
  for (std::uint32_t i = 0; i < step && wait < limit; ++i) {
    // One multiplication at a time and the jitter in integers: no platform may fuse these.
    const Duration jittered = saturating_add(wait, draw_up_to(scale(wait, jitter), rng));
    wait = scale(jittered, factor);
  }
  return std::min(wait, limit);
}

Duration FullJitterBackoff::at(std::uint32_t attempt, Rng& rng) const noexcept {
  TENURE_CHECK(floor >= Duration::zero());
  Duration most = std::min(initial, cap);
  for (std::uint32_t i = 0; i < attempt && most > Duration::zero() && most < cap; ++i) {
    most = std::min(saturating_add(most, most), cap);
  }
  return std::max(draw_up_to(most, rng), floor);
}

}  // namespace tenure::core
