// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/options.h>
#include <tenure/store.h>

#include "core/check.h"
#include "core/spans.h"
#include "core/validity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace tenure {

namespace {

using core::describe;

constexpr Duration kLeastTtl = std::chrono::milliseconds(100);
constexpr Duration kMostTtl = std::chrono::hours(24);
// Between requests, and for one: whatever a store grants, it is not asked without a pause.
constexpr Duration kLeastSpan = std::chrono::milliseconds(1);
// Of one request, unless asked for: what has not been answered by then is better asked again.
constexpr Duration kMostPatience = std::chrono::seconds(10);

tl::unexpected<Error> wrong(const std::string& message) {
  return fail(Errc::invalid_argument, message);
}

// Not std::to_string: that is printf, which the core does without.
std::string decimal(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end.ptr};
}

Result<void> within(const char* what, Duration value, Duration least, Duration most) {
  if (value >= least && value <= most) return {};
  return wrong(std::string(what) + " is " + describe(value) + "; accepted is " + describe(least) +
               " to " + describe(most));
}

Result<void> check_fields(const ElectionOptions& options) {
  if (auto named = check_name("the election's name", options.name); !named) return named;
  if (!options.id.empty()) {
    if (auto named = check_name("the id", options.id); !named) return named;
  }
  if (auto ok = within("ttl", options.ttl, kLeastTtl, kMostTtl); !ok) return ok;
  // Written so that NaN fails too.
  if (!(options.drift >= 0 && options.drift <= 0.5)) {
    return wrong("drift is " + decimal(options.drift) + "; accepted is 0 to 0.5");
  }
  if (auto ok = within("retry_first", options.retry_first, std::chrono::milliseconds(1), kMostTtl);
      !ok) {
    return ok;
  }
  if (auto ok = within("retry_max", options.retry_max, options.retry_first, kMostTtl); !ok)
    return ok;
  if (auto ok = within("yield_pause", options.yield_pause, Duration::zero(), kMostTtl); !ok) {
    return ok;
  }
  if (options.give_up_after && *options.give_up_after < Duration::zero()) {
    return wrong("give_up_after is " + describe(*options.give_up_after) +
                 "; accepted is 0 or more, or unset for never");
  }
  if (options.event_capacity < 8) {
    return wrong("event_capacity is " + std::to_string(options.event_capacity) +
                 "; accepted is 8 or more");
  }
  return {};
}

}  // namespace

Result<Timing> validate(const ElectionOptions& options) {
  if (auto ok = check_fields(options); !ok) return tl::unexpected(ok.error());
  Timing timing;
  timing.ttl = options.ttl;
  timing.drift = options.drift;
  const Duration trusted =
      saturating_between(Instant{}, core::valid_until(Instant{}, timing.ttl, timing.drift));
  // The derived spans add up to 14/15 of this, which must fit even where the drift is large.
  const Duration base = std::min(options.ttl, trusted / 14 * 15);
  timing.grace = options.grace.value_or(base / 5);
  timing.renew_interval = options.renew_interval.value_or(base / 3);
  timing.request_limit =
      options.request_limit.value_or(std::min<Duration>(base / 5, kMostPatience));

  if (auto ok = within("grace", timing.grace, Duration::zero(), options.ttl); !ok) {
    return tl::unexpected(ok.error());
  }
  if (auto ok = within("renew_interval", timing.renew_interval, kLeastSpan, options.ttl); !ok) {
    return tl::unexpected(ok.error());
  }
  if (auto ok = within("request_limit", timing.request_limit, kLeastSpan, options.ttl); !ok) {
    return tl::unexpected(ok.error());
  }
  const Duration left = trusted - timing.grace;
  const Duration needed = timing.renew_interval + 2 * timing.request_limit;
  if (needed > left) {
    return wrong("renew_interval + 2 x request_limit <= ttl x (1 - drift) - grace does not hold: " +
                 describe(timing.renew_interval) + " + 2 x " + describe(timing.request_limit) +
                 " = " + describe(needed) + ", but " + describe(timing.ttl) + " x (1 - " +
                 decimal(timing.drift) + ") - " + describe(timing.grace) + " = " + describe(left) +
                 "; shorten one of them or lengthen the ttl");
  }
  TENURE_CHECK(trusted > Duration::zero() && trusted <= timing.ttl);
  TENURE_CHECK(timing.request_limit > Duration::zero());
  return timing;
}

Timing scale_to(const Timing& asked, Duration granted) noexcept {
  Timing timing = asked;
  timing.ttl = std::max(granted, Duration::zero());
  if (granted >= asked.ttl || asked.ttl <= Duration::zero()) return timing;
  const double ratio =
      static_cast<double>(timing.ttl.count()) / static_cast<double>(asked.ttl.count());
  TENURE_CHECK(ratio >= 0 && ratio < 1);
  timing.grace = scale(asked.grace, ratio);
  timing.renew_interval = std::max(scale(asked.renew_interval, ratio), kLeastSpan);
  timing.request_limit = std::max(scale(asked.request_limit, ratio), kLeastSpan);
  return timing;
}

}  // namespace tenure
