// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/options.h>
#include <tenure/time.h>

namespace tenure::cli {

// How long before the deadline everything must have been sent KILL: what killing and reaping take
// on a loaded machine, a tenth of the ttl within 10 to 500 ms, and at most half of the grace.
[[nodiscard]] Duration kill_margin(const Timing& timing) noexcept;

// What the election is told: a grace longer by the margin, so that on a voluntary end the command
// has all of its own grace and is killed within the election's. What that takes from the time for
// renewals is taken from each of its spans. `timing` is validate()'s for `options`.
[[nodiscard]] ElectionOptions with_kill_margin(ElectionOptions options, const Timing& timing);

// Keeps a command that ends at once from being started over and over: a run shorter than
// kFastRun makes the candidate step aside, first for half a second, then twice as long each time
// up to kLongestPause; a longer run starts afresh.
class Pace {
 public:
  static constexpr Duration kFastRun = std::chrono::seconds(10);
  static constexpr Duration kFirstPause = std::chrono::milliseconds(500);
  static constexpr Duration kLongestPause = std::chrono::seconds(30);

  // How long to step aside after a run of this length.
  [[nodiscard]] Duration pause_after(Duration ran) noexcept;

 private:
  Duration last_{};
};

}  // namespace tenure::cli
