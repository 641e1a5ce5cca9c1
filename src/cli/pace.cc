// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/pace.h"

#include <algorithm>
#include <chrono>

namespace tenure::cli {

using std::chrono::milliseconds;

Duration kill_margin(const Timing& timing) noexcept {
  const Duration wanted =
      std::clamp<Duration>(timing.ttl / 10, milliseconds(10), milliseconds(500));
  return std::min<Duration>(wanted, std::max<Duration>(timing.grace / 2, milliseconds(5)));
}

Duration Pace::pause_after(Duration ran) noexcept {
  if (ran >= kFastRun) {
    last_ = Duration::zero();
    return Duration::zero();
  }
  last_ = last_ == Duration::zero() ? kFirstPause : std::min(last_ * 2, kLongestPause);
  return last_;
}

}  // namespace tenure::cli
