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

ElectionOptions with_kill_margin(ElectionOptions options, const Timing& timing) {
  const Duration grace = timing.grace + kill_margin(timing);
  const Duration trusted = scale(timing.ttl, 1 - timing.drift);
  const Duration needed = timing.renew_interval + 2 * timing.request_limit;
  // A thousandth is for what rounding adds up to.
  const double room = static_cast<double>((trusted - grace).count()) * 0.999;
  const double ratio = std::min(1.0, room / static_cast<double>(needed.count()));
  options.grace = grace;
  options.renew_interval = scale(timing.renew_interval, ratio);
  options.request_limit = scale(timing.request_limit, ratio);
  return options;
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
