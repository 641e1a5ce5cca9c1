// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/rng.h"

#include <array>
#include <cstdint>
#include <gtest/gtest.h>

namespace tenure::core {
namespace {

TEST(Rng, GivesThePublishedSequenceOfItsAlgorithm) {
  // SplitMix64's reference output for the seed 1234567.
  Rng rng(1234567);
  EXPECT_EQ(rng.next(), 6457827717110365317U);
  EXPECT_EQ(rng.next(), 3203168211198807973U);
  EXPECT_EQ(rng.next(), 9817491932198370423U);
}

TEST(Rng, DrawsWithinItsBoundAndReachesBothEnds) {
  Rng rng(7);
  std::array<int, 6> seen{};
  for (int i = 0; i < 6000; ++i) {
    const std::uint64_t draw = rng.up_to(5);
    ASSERT_LE(draw, 5U);
    ++seen.at(draw);
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 200);
}

TEST(Rng, BoundOfZeroIsAlwaysZeroAndTheWidestBoundIsServed) {
  Rng rng(7);
  EXPECT_EQ(rng.up_to(0), 0U);
  std::uint64_t all_bits = 0;
  for (int i = 0; i < 64; ++i) all_bits |= rng.up_to(UINT64_MAX);
  EXPECT_EQ(all_bits, UINT64_MAX);
}

}  // namespace
}  // namespace tenure::core
