// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace tenure::core {

/// A seeded generator (SplitMix64): the same seed gives the same sequence on every platform, which
/// the distributions of <random> do not promise. Not for secrets. One thread at a time.
class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) noexcept : state_(seed) {}

  /// The next 64 bits, uniformly distributed.
  constexpr std::uint64_t next() noexcept {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31U);
  }

  /// A number in [0, most], each equally likely. Draws twice on average at worst.
  constexpr std::uint64_t up_to(std::uint64_t most) noexcept {
    if (most == 0) return 0;
    const std::uint64_t mask = ~std::uint64_t{0} >> static_cast<unsigned>(std::countl_zero(most));
    std::uint64_t draw = next() & mask;
    while (draw > most) draw = next() & mask;
    return draw;
  }

 private:
  std::uint64_t state_;
};

}  // namespace tenure::core
