// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/election/outage.h"

#include <gtest/gtest.h>
#include <vector>

namespace tenure::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const Error kDown{Errc::unavailable, "connection refused"};
const Error kLost{Errc::outcome_unknown, "no answer"};

Instant at(Duration since_boot) { return Instant(since_boot); }

TEST(Outage, BeginIsReportedAtOnceWithItsError) {
  Outage outage;
  EXPECT_EQ(outage.failed(kDown, at(hours(1))), kDown);
  EXPECT_EQ(outage.ongoing(), kDown);
}

TEST(Outage, RemindersComeAtIntervalsThatDoubleUpToTenMinutes) {
  Outage outage;
  std::vector<int> reported;
  for (int second = 0; second <= 4000; ++second) {
    if (outage.failed(kDown, at(seconds(second)))) reported.push_back(second);
  }
  EXPECT_EQ(reported,
            (std::vector<int>{0, 10, 30, 70, 150, 310, 630, 1230, 1830, 2430, 3030, 3630}));
}

TEST(Outage, OB03_TenMinutesOfTwentyErrorsASecondAreAFewLines) {
  Outage outage;
  int lines = 0;
  for (int tick = 0; tick < 600 * 20; ++tick) {
    if (outage.failed(kDown, at(milliseconds(50 * tick)))) ++lines;
  }
  if (outage.recovered()) ++lines;
  EXPECT_LE(lines, 8);
  EXPECT_GE(lines, 3);
}

TEST(Outage, AnotherKindOfErrorIsReportedOnceEvenIfTheTwoAlternate) {
  Outage outage;
  int lines = 0;
  for (int second = 0; second < 600; ++second) {
    const Error& error = second % 2 == 0 ? kDown : kLost;
    if (outage.failed(error, at(seconds(second)))) ++lines;
    if (second == 1) {
      EXPECT_EQ(lines, 2) << "a new kind is news";
    }
  }
  EXPECT_LE(lines, 9);
}

TEST(Outage, EndIsReportedOnceWithTheLastError) {
  Outage outage;
  EXPECT_FALSE(outage.recovered()) << "nothing had begun";
  (void)outage.failed(kDown, at(seconds(1)));
  (void)outage.failed(kLost, at(seconds(2)));
  EXPECT_EQ(outage.recovered(), kLost);
  EXPECT_FALSE(outage.recovered());
  EXPECT_FALSE(outage.ongoing());
}

TEST(Outage, NewTroubleAfterAQuietTimeIsReportedAtOnce) {
  Outage outage;
  for (int second = 0; second < 3600; ++second) (void)outage.failed(kDown, at(seconds(second)));
  (void)outage.recovered();
  EXPECT_TRUE(outage.failed(kDown, at(seconds(3609))));
  EXPECT_TRUE(outage.recovered());
}

TEST(Outage, OB03_TroubleThatComesAndGoesEachSecondDoesNotFloodTheLog) {
  Outage outage;
  int begins = 0;
  int ends = 0;
  for (int second = 0; second < 3600; ++second) {
    if (outage.failed(kDown, at(seconds(second)))) ++begins;
    if (outage.recovered()) ++ends;
  }
  EXPECT_LE(begins, 15);
  EXPECT_EQ(begins, ends) << "each end belongs to a begin that was told";
}

TEST(Outage, TroubleThatLastsIsToldWithinSecondsEvenAfterMuchThatCameAndWent) {
  Outage outage;
  for (int second = 0; second < 3600; ++second) {
    (void)outage.failed(kDown, at(seconds(second)));
    (void)outage.recovered();
  }
  int told = -1;
  for (int second = 3600; second < 3700 && told < 0; ++second) {
    if (outage.failed(kDown, at(seconds(second)))) told = second;
  }
  EXPECT_LE(told, 3612);
  EXPECT_GE(told, 3600);
}

}  // namespace
}  // namespace tenure::core
