// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/pace.h"

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

Timing timing_of(Duration ttl, Duration grace) {
  Timing timing;
  timing.ttl = ttl;
  timing.grace = grace;
  return timing;
}

TEST(KillMargin, IsATenthOfTheTtlWithinBounds) {
  EXPECT_EQ(kill_margin(timing_of(seconds(15), seconds(3))), milliseconds(500));
  EXPECT_EQ(kill_margin(timing_of(seconds(3), milliseconds(600))), milliseconds(300));
  EXPECT_EQ(kill_margin(timing_of(milliseconds(100), milliseconds(20))), milliseconds(10));
  EXPECT_EQ(kill_margin(timing_of(hours(24), hours(1))), milliseconds(500));
}

TEST(KillMargin, LeavesTheCommandHalfOfItsGrace) {
  EXPECT_EQ(kill_margin(timing_of(seconds(15), milliseconds(100))), milliseconds(50));
  EXPECT_EQ(kill_margin(timing_of(seconds(15), milliseconds(2))), milliseconds(5));
}

TEST(KillMargin, IsAddedToTheElectionsGraceAndWhatIsLeftStillSuffices) {
  for (const Duration ttl : {Duration(milliseconds(100)), Duration(seconds(1)),
                             Duration(seconds(5)), Duration(seconds(15)), Duration(hours(24))}) {
    for (const int grace_in_percent : {1, 20, 50}) {
      ElectionOptions options;
      options.name = "job";
      options.ttl = ttl;
      options.grace = ttl * grace_in_percent / 100;
      // As the command line does where a grace is given.
      options.renew_interval = (ttl - *options.grace) * 4 / 10;
      options.request_limit = (ttl - *options.grace) / 4;
      const auto timing = validate(options);
      ASSERT_TRUE(timing) << timing.error().message;
      const auto widened = validate(with_kill_margin(options, *timing));
      ASSERT_TRUE(widened) << widened.error().message;
      EXPECT_EQ(widened->grace, *options.grace + kill_margin(*timing));
      EXPECT_GE(widened->renew_interval, timing->renew_interval / 2);
      EXPECT_GE(widened->request_limit, timing->request_limit / 2);
    }
  }
}

TEST(KillMargin, TakesNothingFromSpansThatLeaveItRoom) {
  ElectionOptions options;
  options.name = "job";
  const auto timing = validate(options);
  ASSERT_TRUE(timing);
  const auto widened = validate(with_kill_margin(options, *timing));
  ASSERT_TRUE(widened);
  EXPECT_EQ(widened->renew_interval, timing->renew_interval);
  EXPECT_EQ(widened->request_limit, timing->request_limit);
}

TEST(Pace, DoublesThePauseWhileRunsAreShort) {
  Pace pace;
  EXPECT_EQ(pace.pause_after(milliseconds(1)), milliseconds(500));
  EXPECT_EQ(pace.pause_after(seconds(9)), seconds(1));
  EXPECT_EQ(pace.pause_after(seconds(0)), seconds(2));
  for (int i = 0; i < 100; ++i) EXPECT_LE(pace.pause_after(seconds(0)), seconds(30));
  EXPECT_EQ(pace.pause_after(seconds(0)), seconds(30));
}

TEST(Pace, ALongRunStartsAfresh) {
  Pace pace;
  for (int i = 0; i < 10; ++i) EXPECT_GT(pace.pause_after(seconds(0)), Duration::zero());
  EXPECT_EQ(pace.pause_after(seconds(10)), Duration::zero());
  EXPECT_EQ(pace.pause_after(seconds(0)), milliseconds(500));
}

}  // namespace
}  // namespace tenure::cli
