// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

/// The one home of time arithmetic: everything saturates, nothing overflows, "never" is sticky.
namespace tenure {

/// A span of time in nanoseconds.
using Duration = std::chrono::nanoseconds;

/// Tag of the clock that all deadlines are counted on: CLOCK_BOOTTIME, which goes on while the
/// machine is suspended (std::chrono::steady_clock stops there, and a resumed machine would lead
/// on a lease long gone). Read it through a tenure::Clock, never by itself.
struct BootClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<BootClock, Duration>;
  static constexpr bool is_steady = true;
};

/// An instant in boot time: nanoseconds since this host's boot (or since the start of a
/// simulation). It means nothing on another host or after a reboot.
using Instant = BootClock::time_point;

/// Wall time, for people's eyes only: no decision is ever taken on it.
using WallTime = std::chrono::sys_time<Duration>;

/// Later than every real instant: an unarmed timer, a deadline that never comes.
inline constexpr Instant kNever = Instant::max();
/// Earlier than every real instant: a deadline that has always passed.
inline constexpr Instant kLongAgo = Instant::min();
/// A span without end.
inline constexpr Duration kForever = Duration::max();

/// a + b, clamped to the representable range. kForever + anything not negative is kForever.
[[nodiscard]] constexpr Duration saturating_add(Duration a, Duration b) noexcept {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a.count(), b.count(), &sum)) {
    return b.count() > 0 ? Duration::max() : Duration::min();
  }
  return Duration(sum);
}

/// t + d, clamped. kNever and kLongAgo stay what they are whatever is added.
[[nodiscard]] constexpr Instant saturating_add(Instant t, Duration d) noexcept {
  if (t == kNever || t == kLongAgo) return t;
  return Instant(saturating_add(t.time_since_epoch(), d));
}

/// t - d, clamped. kNever and kLongAgo stay what they are.
[[nodiscard]] constexpr Instant saturating_sub(Instant t, Duration d) noexcept {
  if (d == Duration::min()) return saturating_add(t, Duration::max());
  return saturating_add(t, -d);
}

/// later - earlier, clamped; kForever when `later` is kNever, and its opposite for kLongAgo.
[[nodiscard]] constexpr Duration saturating_between(Instant earlier, Instant later) noexcept {
  if (later == kNever || earlier == kLongAgo) return Duration::max();
  if (later == kLongAgo || earlier == kNever) return Duration::min();
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(later.time_since_epoch().count(), earlier.time_since_epoch().count(),
                             &difference)) {
    return later > earlier ? Duration::max() : Duration::min();
  }
  return Duration(difference);
}

/// d x factor, clamped and rounded towards zero. A factor that is not a number gives zero.
[[nodiscard]] constexpr Duration scale(Duration d, double factor) noexcept {
  const double product = static_cast<double>(d.count()) * factor;
  if (product != product) return Duration::zero();
  // 2^63 is exact in a double; everything from there on does not fit.
  constexpr double kEdge = 9223372036854775808.0;
  if (product >= kEdge) return Duration::max();
  if (product < -kEdge) return Duration::min();
  return Duration(static_cast<std::int64_t>(product));
}

}  // namespace tenure
