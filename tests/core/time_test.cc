// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/time.h>
#include <gtest/gtest.h>

#include <limits>

namespace tenure {
namespace {

using std::chrono::seconds;

constexpr Duration kTick{1};
constexpr Instant kEpoch{};
constexpr Instant at(std::int64_t ns) { return Instant(Duration(ns)); }

static_assert(noexcept(saturating_add(kEpoch, kTick)));
static_assert(saturating_add(kEpoch, kTick) == at(1), "usable at compile time");

TEST(TimeAdd, AddsWithinTheRange) {
  EXPECT_EQ(saturating_add(seconds(2), seconds(3)), seconds(5));
  EXPECT_EQ(saturating_add(seconds(2), seconds(-3)), seconds(-1));
  EXPECT_EQ(saturating_add(at(10), Duration::zero()), at(10));
  EXPECT_EQ(saturating_add(at(10), -kTick), at(9));
}

TEST(TimeAdd, ClampsAtBothEndsInsteadOfWrapping) {
  EXPECT_EQ(saturating_add(Duration::max(), kTick), Duration::max());
  EXPECT_EQ(saturating_add(kTick, Duration::max()), Duration::max());
  EXPECT_EQ(saturating_add(Duration::max(), Duration::max()), Duration::max());
  EXPECT_EQ(saturating_add(Duration::min(), -kTick), Duration::min());
  EXPECT_EQ(saturating_add(-kTick, Duration::min()), Duration::min());
  EXPECT_EQ(saturating_add(Duration::min(), Duration::min()), Duration::min());
}

TEST(TimeAdd, ReachesTheLastRepresentableValueExactly) {
  EXPECT_EQ(saturating_add(Duration::max() - kTick, kTick), Duration::max());
  EXPECT_EQ(saturating_add(Duration::max() - 2 * kTick, kTick), Duration::max() - kTick);
  EXPECT_EQ(saturating_add(Duration::min() + kTick, -kTick), Duration::min());
  EXPECT_EQ(saturating_add(Duration::max(), Duration::min()), -kTick);
}

TEST(TimeAdd, AnInstantClampsToNeverAndToLongAgo) {
  EXPECT_EQ(saturating_add(at(1), kForever), kNever);
  EXPECT_EQ(saturating_add(at(5), Duration::max() - kTick), kNever);
  EXPECT_EQ(saturating_add(at(-5), Duration::min()), kLongAgo);
}

TEST(TimeAdd, NeverAndLongAgoStayWhatTheyAre) {
  EXPECT_EQ(saturating_add(kNever, seconds(-1)), kNever);
  EXPECT_EQ(saturating_add(kNever, Duration::min()), kNever);
  EXPECT_EQ(saturating_add(kLongAgo, seconds(1)), kLongAgo);
  EXPECT_EQ(saturating_add(kLongAgo, kForever), kLongAgo);
}

TEST(TimeSub, SubtractsAndClamps) {
  EXPECT_EQ(saturating_sub(at(10), kTick), at(9));
  EXPECT_EQ(saturating_sub(at(10), -kTick), at(11));
  EXPECT_EQ(saturating_sub(at(-10), Duration::max()), kLongAgo);
  EXPECT_EQ(saturating_sub(at(10), -Duration::max()), kNever);
}

TEST(TimeSub, TheSmallestSpanHasNoOppositeAndStillDoesNotOverflow) {
  EXPECT_EQ(saturating_sub(at(1), Duration::min()), kNever);
  EXPECT_EQ(saturating_sub(kEpoch, Duration::min()), kNever);
}

TEST(TimeSub, NeverAndLongAgoStayWhatTheyAre) {
  EXPECT_EQ(saturating_sub(kNever, kForever), kNever);
  EXPECT_EQ(saturating_sub(kLongAgo, Duration::min()), kLongAgo);
}

TEST(TimeBetween, IsTheSignedDistance) {
  EXPECT_EQ(saturating_between(at(3), at(10)), Duration(7));
  EXPECT_EQ(saturating_between(at(10), at(3)), Duration(-7));
  EXPECT_EQ(saturating_between(at(3), at(3)), Duration::zero());
}

TEST(TimeBetween, ClampsWhereTheDistanceDoesNotFit) {
  EXPECT_EQ(saturating_between(at(Duration::min().count() + 1), at(10)), kForever);
  EXPECT_EQ(saturating_between(at(10), at(Duration::min().count() + 1)), Duration::min());
}

TEST(TimeBetween, IsEndlessToNeverAndFromLongAgo) {
  EXPECT_EQ(saturating_between(at(10), kNever), kForever);
  EXPECT_EQ(saturating_between(kLongAgo, at(10)), kForever);
  EXPECT_EQ(saturating_between(kLongAgo, kNever), kForever);
  EXPECT_EQ(saturating_between(kNever, kNever), kForever);
  EXPECT_EQ(saturating_between(at(10), kLongAgo), Duration::min());
  EXPECT_EQ(saturating_between(kNever, at(10)), Duration::min());
}

TEST(TimeScale, MultipliesAndRoundsTowardsZero) {
  EXPECT_EQ(scale(seconds(10), 0.5), seconds(5));
  EXPECT_EQ(scale(Duration(3), 0.5), Duration(1));
  EXPECT_EQ(scale(Duration(-3), 0.5), Duration(-1));
  EXPECT_EQ(scale(seconds(10), 0.0), Duration::zero());
  EXPECT_EQ(scale(seconds(10), -1.0), seconds(-10));
  EXPECT_EQ(scale(Duration::zero(), 1e300), Duration::zero());
}

TEST(TimeScale, ClampsAtTheEdgesOfTheRange) {
  EXPECT_EQ(scale(kForever, 1.0), kForever);
  EXPECT_EQ(scale(kForever, 2.0), kForever);
  EXPECT_EQ(scale(kForever, -2.0), Duration::min());
  EXPECT_EQ(scale(Duration::min(), 1.0), Duration::min());
  EXPECT_EQ(scale(Duration::min(), -1.0), kForever);
  EXPECT_EQ(scale(kTick, std::numeric_limits<double>::infinity()), kForever);
  EXPECT_EQ(scale(-kTick, std::numeric_limits<double>::infinity()), Duration::min());
}

TEST(TimeScale, AFactorThatIsNotANumberGivesZero) {
  EXPECT_EQ(scale(seconds(10), std::numeric_limits<double>::quiet_NaN()), Duration::zero());
  EXPECT_EQ(scale(Duration::zero(), std::numeric_limits<double>::infinity()), Duration::zero());
}

}  // namespace
}  // namespace tenure
