// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <optional>
#include <string>
#include <string_view>

namespace tenure::cli {

// What the command line accepts as a span of time, for messages.
inline constexpr std::string_view kDurationRule =
    "a number above 0 with its unit is accepted: 500ms, 15s, 2m, 1h";

// "500ms", "15s", "1.5m", "2h". Nothing for anything else: no unit, no digit, a sign, an exponent,
// zero, or a span beyond what Duration holds.
[[nodiscard]] std::optional<Duration> parse_duration(std::string_view text);

// The span for people: "850ms", "15s", "2m 5s", "3h 20m", "4d 2h". Negative is as zero.
[[nodiscard]] std::string format_duration(Duration span);

}  // namespace tenure::cli
