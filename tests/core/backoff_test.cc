// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/backoff.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace tenure::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

StepBackoff lease_steps(Duration lease) {
  StepBackoff backoff;
  backoff.limit = lease;
  return backoff;
}

TEST(StepBackoff, FirstStepIsExactlyTwentyMilliseconds) {
  Rng rng(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(lease_steps(seconds(60)).at(0, rng), milliseconds(20));
}

TEST(StepBackoff, EachStepIsFourTimesTheLastWithUpToHalfAgainOfJitter) {
  Rng rng(1);
  double least = 4.0;
  double most = 20.0;
  bool jittered = false;
  for (std::uint32_t step = 0; step <= 5; ++step) {
    least = step == 0 ? 20.0 : least * 4.0;
    most = step == 0 ? 20.0 : most * 6.0;
    for (int i = 0; i < 1000; ++i) {
      const auto wait = lease_steps(hours(10)).at(step, rng);
      const double ms = std::chrono::duration<double, std::milli>(wait).count();
      ASSERT_GE(ms, least - 0.001) << "step " << step;
      ASSERT_LE(ms, most + 0.001) << "step " << step;
      jittered = jittered || ms > least * 1.2;
    }
  }
  EXPECT_TRUE(jittered);
}

TEST(StepBackoff, NeverGoesAboveTheLease) {
  Rng rng(1);
  for (std::uint32_t step = 0; step < 10; ++step) {
    for (int i = 0; i < 200; ++i) {
      ASSERT_LE(lease_steps(milliseconds(500)).at(step, rng), milliseconds(500));
      ASSERT_LE(lease_steps(milliseconds(5)).at(step, rng), milliseconds(5));
    }
  }
}

TEST(StepBackoff, PastTheLastStepIsTheLease) {
  Rng rng(1);
  EXPECT_LT(lease_steps(hours(10)).at(5, rng), hours(10));
  EXPECT_EQ(lease_steps(hours(10)).at(6, rng), hours(10));
  EXPECT_EQ(lease_steps(hours(10)).at(UINT32_MAX, rng), hours(10));
}

TEST(StepBackoff, SameSeedGivesTheSameWaitsOnEveryPlatform) {
  Rng rng(42);
  const auto backoff = lease_steps(hours(10));
  const auto first = backoff.at(5, rng);
  Rng again(42);
  EXPECT_EQ(backoff.at(5, again), first);
  // Pinned (worked out by a second implementation): where this differs, no simulation replays.
  EXPECT_EQ(first.count(), 69'681'409'592);
}

TEST(StepBackoff, HugeFactorsSaturateAtTheLimit) {
  StepBackoff backoff;
  backoff.factor = 1e300;
  Rng rng(1);
  EXPECT_EQ(backoff.at(5, rng), kForever);
}

TEST(FullJitterBackoff, StaysBetweenTheFloorAndTheDoublingCeiling) {
  Rng rng(3);
  const FullJitterBackoff backoff{milliseconds(100), seconds(5), milliseconds(10)};
  Duration ceiling = milliseconds(100);
  for (std::uint32_t attempt = 0; attempt < 80; ++attempt) {
    Duration least = kForever;
    Duration most{};
    for (int i = 0; i < 500; ++i) {
      const Duration wait = backoff.at(attempt, rng);
      ASSERT_GE(wait, milliseconds(10));
      ASSERT_LE(wait, ceiling);
      least = std::min(least, wait);
      most = std::max(most, wait);
    }
    EXPECT_LT(least, ceiling / 5) << "jitter must be full, attempt " << attempt;
    EXPECT_GT(most, ceiling * 9 / 10) << "attempt " << attempt;
    ceiling = std::min<Duration>(ceiling * 2, seconds(5));
  }
}

TEST(FullJitterBackoff, ZeroAndNegativeSettingsGiveTheFloor) {
  Rng rng(3);
  EXPECT_EQ((FullJitterBackoff{Duration::zero(), seconds(5), milliseconds(1)}.at(9, rng)),
            milliseconds(1));
  EXPECT_EQ((FullJitterBackoff{seconds(-5), seconds(5), milliseconds(1)}.at(9, rng)),
            milliseconds(1));
}

TEST(FullJitterBackoff, ManyAttemptsDoNotOverflow) {
  Rng rng(3);
  const FullJitterBackoff backoff{seconds(1), kForever, Duration::zero()};
  for (int i = 0; i < 100; ++i) EXPECT_GE(backoff.at(UINT32_MAX, rng), Duration::zero());
}

}  // namespace
}  // namespace tenure::core
