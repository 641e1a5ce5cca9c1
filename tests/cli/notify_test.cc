// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/notify.h"

#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <unistd.h>

namespace tenure::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::optional<Duration> interval_for(const char* usec, const std::string& pid = "") {
  setenv("NOTIFY_SOCKET", "/nowhere", 1);
  setenv("WATCHDOG_USEC", usec, 1);
  pid.empty() ? unsetenv("WATCHDOG_PID") : setenv("WATCHDOG_PID", pid.c_str(), 1);
  return Notifier().watchdog_interval();
}

TEST(Watchdog, IsFedAtHalfOfWhatIsAllowed) {
  EXPECT_EQ(interval_for("30000000"), seconds(15));
  EXPECT_EQ(interval_for("200000"), milliseconds(100));
  EXPECT_EQ(interval_for("864000000000"), hours(120));
}

TEST(Watchdog, AnIntervalThatNobodyCouldKeepIsLengthened) {
  for (const char* usec : {"1", "2", "19999", "20000"}) {
    EXPECT_EQ(interval_for(usec), milliseconds(10)) << usec;
  }
}

TEST(Watchdog, NumbersThatMeanNoneAreNone) {
  for (const char* usec :
       {"0", "", "-1", "x", "5x", "1e6", "18446744073709551615", "18446744073709551616",
        "9223372036854775807", "9223372036854776", "99999999999999999999999999"}) {
    EXPECT_EQ(interval_for(usec), std::nullopt) << usec;
  }
}

TEST(Watchdog, IsOfTheProcessThatIsNamed) {
  EXPECT_EQ(interval_for("30000000", std::to_string(getpid())), seconds(15));
  EXPECT_EQ(interval_for("30000000", "1"), std::nullopt);
}

}  // namespace
}  // namespace tenure::cli
