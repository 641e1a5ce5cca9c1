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

std::string decimal(std::uint64_t ns, const Unit& unit) {
  std::string text = std::to_string(ns / unit.ns);
  const std::uint64_t thousandths = ns % unit.ns * 1000 / unit.ns;
  if (thousandths != 0) {
    std::string digits = std::to_string(1000 + thousandths).substr(1);
    while (digits.back() == '0') digits.pop_back();
    text += "." + digits;
  }
  return text + unit.name;
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

}  // namespace tenure::core
