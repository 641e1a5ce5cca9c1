// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/clock.h>

#include "tests/runtime/child.h"

#include <ctime>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <string_view>
#include <unistd.h>

namespace tenure {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

Duration read_clock(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

bool readable_within(const Timer& timer, int limit_ms) {
  pollfd entry{timer.fd(), POLLIN, 0};
  return ::poll(&entry, 1, limit_ms) == 1;
}

constexpr int kLongMs = 20'000;

TEST(SystemClock, CountsOnTheBootClock) {
  const Duration before = read_clock(CLOCK_BOOTTIME);
  const Instant now = system_clock().now();
  const Duration after = read_clock(CLOCK_BOOTTIME);
  EXPECT_LE(before, now.time_since_epoch());
  EXPECT_GE(after, now.time_since_epoch());
}

// On a machine that was never suspended boot time and monotonic time are equal; in a time namespace
// they can be set apart.
TEST(SystemClock, CK02_SuspendedTimeCountsForInstantsAndForTimers) {
  constexpr int kNotAllowed = 77;
  const int result = test::in_child([] {
    if (::unshare(CLONE_NEWTIME) != 0) return kNotAllowed;
    const int offsets = ::open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
    constexpr std::string_view kAnHour = "boottime 3600 0";
    if (::write(offsets, kAnHour.data(), kAnHour.size()) < 0) return kNotAllowed;
    ::close(offsets);
    return test::in_child([] {
      const Duration monotonic = read_clock(CLOCK_MONOTONIC);
      const Instant now = system_clock().now();
      if (now.time_since_epoch() - monotonic < hours(1)) return 1;
      const auto timer = system_clock().make_timer();
      timer->arm(now - milliseconds(1));
      return readable_within(*timer, kLongMs) ? 0 : 2;
    });
  });
  if (result == kNotAllowed) GTEST_SKIP() << "this machine gives us no time namespace";
  EXPECT_EQ(result, 0);
}

TEST(SystemClock, ShowsTheWallClock) {
  // Wall time may be stepped while this runs, but hardly by an hour.
  const Duration wall = system_clock().wall_now().time_since_epoch();
  EXPECT_LT(std::chrono::abs(wall - read_clock(CLOCK_REALTIME)), hours(1));
}

TEST(SystemClock, NeverGoesBack) {
  Instant last = system_clock().now();
  for (int i = 0; i < 100'000; ++i) {
    const Instant now = system_clock().now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClock, TimerFiresAtItsInstantAndNotBefore) {
  const auto timer = system_clock().make_timer();
  ASSERT_NE(timer, nullptr);
  const Instant due = system_clock().now() + milliseconds(20);
  timer->arm(due);
  ASSERT_TRUE(readable_within(*timer, kLongMs));
  EXPECT_GE(system_clock().now(), due);
}

TEST(SystemClock, TimerStaysReadableUntilItIsArmedAgain) {
  const auto timer = system_clock().make_timer();
  timer->arm(system_clock().now());
  EXPECT_TRUE(readable_within(*timer, kLongMs));
  EXPECT_TRUE(readable_within(*timer, 0));
  timer->arm(system_clock().now() + hours(1));
  EXPECT_FALSE(readable_within(*timer, 0));
}

TEST(SystemClock, TimerForThePastFiresAtOnceHoweverFarThatIs) {
  const auto timer = system_clock().make_timer();
  for (const Instant past : {kLongAgo, Instant(Duration(0)), Instant(Duration(-1)),
                             system_clock().now() - milliseconds(1)}) {
    timer->arm(kNever);
    ASSERT_FALSE(readable_within(*timer, 0));
    timer->arm(past);
    EXPECT_TRUE(readable_within(*timer, kLongMs)) << past.time_since_epoch().count();
  }
}

TEST(SystemClock, TimerForNeverIsDisarmedAndForgetsThatItHadFired) {
  const auto timer = system_clock().make_timer();
  EXPECT_FALSE(readable_within(*timer, 0));
  timer->arm(kLongAgo);
  ASSERT_TRUE(readable_within(*timer, kLongMs));
  timer->arm(kNever);
  EXPECT_FALSE(readable_within(*timer, 20));
  timer->arm(kNever - Duration(1));
  EXPECT_FALSE(readable_within(*timer, 0));
}

TEST(SystemClock, TimersAreNotInheritedByCommands) {
  const auto timer = system_clock().make_timer();
  EXPECT_NE(::fcntl(timer->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SystemClock, IsOneForTheWholeProcess) { EXPECT_EQ(&system_clock(), &system_clock()); }

}  // namespace
}  // namespace tenure
