// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/spans.h"

#include <array>
#include <cstdint>
#include <string>

namespace tenure::core {

namespace {

struct Unit {
  std::uint64_t ns;
  const char* name;
};

constexpr std::array<Unit, 5> kUnits{{{3'600'000'000'000U, "h"},
                                      {60'000'000'000U, "m"},
                                      {1'000'000'000U, "s"},
                                      {1'000'000U, "ms"},
                                      {1'000U, "us"}}};

/// ".25" for 250 of 1000; nothing for 0. `one` is a power of ten.
std::string fraction(std::uint64_t part, std::uint64_t one) {
  if (part == 0) return {};
  std::string digits = std::to_string(one + part);
  digits[0] = '.';
  while (digits.back() == '0') digits.pop_back();
  return digits;
}

std::string decimal(std::uint64_t ns, const Unit& unit) {
  return std::to_string(ns / unit.ns) + fraction(ns % unit.ns * 1000 / unit.ns, 1000) + unit.name;
}

}  // namespace

std::string describe(Duration span) {
  if (span == kForever) return "for ever";
  const bool negative = span < Duration::zero();
  const auto magnitude = static_cast<std::uint64_t>(span.count());
  const std::uint64_t ns = negative ? 0 - magnitude : magnitude;
  const std::string sign = negative ? "-" : "";
  if (ns == 0) return "0s";
  for (const Unit& unit : kUnits) {
    // Hours and minutes only when they are whole: "90s" reads better than "1.5m".
    const bool coarse = unit.ns > 1'000'000'000U;
    if (coarse ? (ns >= unit.ns && ns % unit.ns == 0) : ns >= unit.ns) {
      return sign + decimal(ns, unit);
    }
  }
  return sign + std::to_string(ns) + "ns";
}

std::string describe(double number) {
  constexpr double kMost = 1e6;
  constexpr std::uint64_t kMillion = 1'000'000;
  if (number != number) return "not a number";
  if (number > kMost) return "above 1000000";
  if (number < -kMost) return "below -1000000";
  const double magnitude = number < 0 ? -number : number;
  const auto millionths = static_cast<std::uint64_t>(magnitude * 1e6 + 0.5);
  const std::string sign = number < 0 && millionths != 0 ? "-" : "";
  return sign + std::to_string(millionths / kMillion) + fraction(millionths % kMillion, kMillion);
}

}  // namespace tenure::core
