// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"

#include <array>
#include <cstdint>
#include <utility>

namespace tenure::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
constexpr std::array kUnits{Unit{"ms", 1'000'000}, Unit{"s", kSecond}, Unit{"m", 60 * kSecond},
                            Unit{"h", 3600 * kSecond}};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits from the front of `text`, which loses them; how many there were.
std::size_t take_digits(std::string_view& text, std::string_view& digits) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  digits = text.substr(0, count);
  text.remove_prefix(count);
  return count;
}

// whole.fraction units in integers, so that 0.1s is exactly 100ms; false when it does not fit.
bool to_ns(std::string_view whole, std::string_view fraction, std::int64_t unit, std::int64_t& ns) {
  ns = 0;
  for (const char digit : whole) {
    if (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, digit - '0', &ns)) {
      return false;
    }
  }
  if (__builtin_mul_overflow(ns, unit, &ns)) return false;
  for (const char digit : fraction) {
    const std::int64_t part = unit / 10 * (digit - '0');
    if (__builtin_add_overflow(ns, part, &ns)) return false;
    unit /= 10;
  }
  return true;
}

std::string two(std::int64_t big, const char* big_unit, std::int64_t small,
                const char* small_unit) {
  std::string text = std::to_string(big) + big_unit;
  if (small > 0) text += ' ' + std::to_string(small) + small_unit;
  return text;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  std::string_view whole;
  std::string_view fraction;
  if (take_digits(text, whole) == 0) return std::nullopt;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (take_digits(text, fraction) == 0) return std::nullopt;
  }
  for (const Unit& unit : kUnits) {
    std::int64_t ns = 0;
    if (text == unit.name) {
      if (!to_ns(whole, fraction, unit.ns, ns) || ns == 0) return std::nullopt;
      return Duration(ns);
    }
  }
  return std::nullopt;
}

std::string format_duration(Duration span) {
  const std::int64_t ns = span.count() > 0 ? span.count() : 0;
  if (ns == Duration::max().count()) return "forever";
  if (ns < kSecond) return std::to_string(ns / 1'000'000) + "ms";
  const std::int64_t seconds = ns / kSecond;
  if (seconds < 60) {
    const std::int64_t tenths = ns % kSecond / (kSecond / 10);
    const bool show_tenth = seconds < 10 && tenths > 0;
    return std::to_string(seconds) + (show_tenth ? "." + std::to_string(tenths) : "") + "s";
  }
  const std::int64_t minutes = seconds / 60;
  if (minutes < 60) return two(minutes, "m", seconds % 60, "s");
  const std::int64_t hours = minutes / 60;
  if (hours < 24) return two(hours, "h", minutes % 60, "m");
  return two(hours / 24, "d", hours % 24, "h");
}

}  // namespace tenure::cli
