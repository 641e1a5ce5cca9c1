// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/spans.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenure::core {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(Spans, AreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(describe(seconds(15)), "15s");
  EXPECT_EQ(describe(milliseconds(1500)), "1.5s");
  EXPECT_EQ(describe(milliseconds(250)), "250ms");
  EXPECT_EQ(describe(minutes(2)), "2m");
  EXPECT_EQ(describe(hours(24)), "24h");
  EXPECT_EQ(describe(microseconds(7)), "7us");
  EXPECT_EQ(describe(nanoseconds(999)), "999ns");
  EXPECT_EQ(describe(Duration::zero()), "0s");
}

TEST(Spans, HoursAndMinutesAreOnlyUsedWhenWhole) {
  EXPECT_EQ(describe(seconds(90)), "90s");
  EXPECT_EQ(describe(seconds(3600)), "1h");
  EXPECT_EQ(describe(seconds(3660)), "61m");
  EXPECT_EQ(describe(seconds(3601)), "3601s");
  EXPECT_EQ(describe(minutes(1) + milliseconds(1)), "60.001s");
}

TEST(Spans, HaveAtMostThreeDigitsAfterThePointAndNoIdleZeros) {
  EXPECT_EQ(describe(milliseconds(1050)), "1.05s");
  EXPECT_EQ(describe(milliseconds(1005)), "1.005s");
  EXPECT_EQ(describe(nanoseconds(1'000'000'001)), "1s");
  EXPECT_EQ(describe(nanoseconds(1'999'999'999)), "1.999s");
  EXPECT_EQ(describe(microseconds(1500)), "1.5ms");
  EXPECT_EQ(describe(nanoseconds(1010)), "1.01us");
}

TEST(Spans, NegativeOnesCarryASign) {
  EXPECT_EQ(describe(seconds(-1)), "-1s");
  EXPECT_EQ(describe(milliseconds(-1500)), "-1.5s");
  EXPECT_EQ(describe(nanoseconds(-3)), "-3ns");
}

TEST(Spans, EndsOfTheRangeAreWrittenToo) {
  EXPECT_EQ(describe(kForever), "for ever");
  EXPECT_EQ(describe(Duration::min()), "-9223372036.854s");
  EXPECT_EQ(describe(kForever - nanoseconds(1)), "9223372036.854s");
}

TEST(Spans, NumbersAreShortAndNeverEndless) {
  EXPECT_EQ(describe(0.01), "0.01");
  EXPECT_EQ(describe(0.5), "0.5");
  EXPECT_EQ(describe(-0.25), "-0.25");
  EXPECT_EQ(describe(0.0), "0");
  EXPECT_EQ(describe(-1e-9), "0");
  EXPECT_EQ(describe(123.000001), "123.000001");
  EXPECT_EQ(describe(1e300), "above 1000000");
  EXPECT_EQ(describe(-1e300), "below -1000000");
  EXPECT_EQ(describe(std::numeric_limits<double>::quiet_NaN()), "not a number");
}

}  // namespace
}  // namespace tenure::core
