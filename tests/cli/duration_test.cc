// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"

#include <gtest/gtest.h>
#include <string>

namespace tenure::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(ParseDuration, TakesANumberWithItsUnit) {
  EXPECT_EQ(parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(parse_duration("15s"), seconds(15));
  EXPECT_EQ(parse_duration("2m"), minutes(2));
  EXPECT_EQ(parse_duration("1h"), hours(1));
  EXPECT_EQ(parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(parse_duration("0.1s"), milliseconds(100));
  EXPECT_EQ(parse_duration("0007s"), seconds(7));
  EXPECT_EQ(parse_duration("0.0000001ms"), std::nullopt) << "less than a nanosecond is zero";
  EXPECT_EQ(parse_duration("2562047h"), hours(2562047)) << "the largest span there is";
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text : {"",
                           "5",
                           "0",
                           "0s",
                           "0.0ms",
                           "-1",
                           "-1s",
                           "+1s",
                           "1e30",
                           "1e3s",
                           "NaN",
                           "nan",
                           "inf",
                           "infs",
                           "s",
                           "ms",
                           ".5s",
                           "5.s",
                           "5 s",
                           " 5s",
                           "5s ",
                           "5S",
                           "5sec",
                           "5d",
                           "5us",
                           "0x10s",
                           "1,5s",
                           "1m30s",
                           "2562048h",
                           "99999999999999999999s",
                           "9223372036855ms0",
                           "1.5.5s"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(ParseDuration, NeverWrapsAround) {
  EXPECT_EQ(parse_duration("9223372036854775807s"), std::nullopt);
  EXPECT_EQ(parse_duration("18446744073709551617s"), std::nullopt);
  EXPECT_EQ(parse_duration("9223372036854ms"), milliseconds(9223372036854));
  EXPECT_EQ(parse_duration("9223372036855ms"), std::nullopt);
  EXPECT_EQ(parse_duration("9223372036.999999999s"), std::nullopt);
}

TEST(FormatDuration, IsShort) {
  EXPECT_EQ(format_duration(Duration(-5)), "0ms");
  EXPECT_EQ(format_duration(milliseconds(850)), "850ms");
  EXPECT_EQ(format_duration(milliseconds(1500)), "1.5s");
  EXPECT_EQ(format_duration(milliseconds(15500)), "15s");
  EXPECT_EQ(format_duration(seconds(125)), "2m 5s");
  EXPECT_EQ(format_duration(seconds(120)), "2m");
  EXPECT_EQ(format_duration(minutes(200)), "3h 20m");
  EXPECT_EQ(format_duration(hours(98)), "4d 2h");
  EXPECT_EQ(format_duration(kForever), "forever");
}

}  // namespace
}  // namespace tenure::cli
