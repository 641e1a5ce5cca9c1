// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/testkit/manual_clock.h>

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <poll.h>
#include <thread>

namespace tenure::testkit {
namespace {

using namespace std::chrono_literals;

bool readable(const Timer& timer, int timeout_ms = 0) {
  pollfd fd{timer.fd(), POLLIN, 0};
  return ::poll(&fd, 1, timeout_ms) == 1;
}

TEST(ManualClock, StartsAtAnInstantThatIsNotZeroAndStandsStill) {
  const ManualClock clock;
  EXPECT_GT(clock.now().time_since_epoch().count(), 0);
  EXPECT_EQ(clock.now(), ManualClock::kDefaultStart);
  EXPECT_EQ(clock.wall_now(), ManualClock::kDefaultWall);
}

TEST(ManualClock, AdvanceMovesBootTimeAndWallTimeAlike) {
  ManualClock clock;
  clock.advance(3s);
  EXPECT_EQ(clock.now(), ManualClock::kDefaultStart + 3s);
  EXPECT_EQ(clock.wall_now(), ManualClock::kDefaultWall + 3s);
}

TEST(ManualClock, NeverGoesBack) {
  ManualClock clock;
  clock.advance(-3s);
  clock.advance_to(ManualClock::kDefaultStart - 1s);
  EXPECT_EQ(clock.now(), ManualClock::kDefaultStart);
  EXPECT_EQ(clock.wall_now(), ManualClock::kDefaultWall);
}

TEST(ManualClock, CK01_AStepOfTheWallClockMovesNeitherBootTimeNorTimers) {
  ManualClock clock;
  const auto timer = clock.make_timer();
  timer->arm(clock.now() + 1s);
  clock.advance_wall(1h);
  EXPECT_EQ(clock.wall_now(), ManualClock::kDefaultWall + 1h);
  clock.set_wall(ManualClock::kDefaultWall - 1h);
  EXPECT_EQ(clock.wall_now(), ManualClock::kDefaultWall - 1h);
  EXPECT_EQ(clock.now(), ManualClock::kDefaultStart);
  EXPECT_FALSE(readable(*timer));
}

TEST(ManualClock, TimerIsReadableFromItsInstantOnAndNotBefore) {
  ManualClock clock;
  const auto timer = clock.make_timer();
  EXPECT_FALSE(readable(*timer));
  timer->arm(clock.now() + 2s);
  clock.advance(2s - 1ns);
  EXPECT_FALSE(readable(*timer));
  EXPECT_EQ(clock.next_timer(), clock.now() + 1ns);
  clock.advance(1ns);
  EXPECT_TRUE(readable(*timer));
  EXPECT_TRUE(readable(*timer)) << "it stays readable until it is armed again";
  EXPECT_EQ(clock.next_timer(), kNever);
}

TEST(ManualClock, ArmingAgainReplacesAndClearsAPastFiring) {
  ManualClock clock;
  const auto timer = clock.make_timer();
  timer->arm(clock.now());
  EXPECT_TRUE(readable(*timer)) << "an instant that has come fires at once";
  timer->arm(clock.now() + 5s);
  EXPECT_FALSE(readable(*timer));
  timer->arm(kNever);
  clock.advance(1h);
  EXPECT_FALSE(readable(*timer)) << "kNever disarms";
}

TEST(ManualClock, SaturatesAtTheEndOfTime) {
  ManualClock clock;
  const auto timer = clock.make_timer();
  timer->arm(kNever);
  clock.advance(kForever);
  EXPECT_EQ(clock.now(), kNever);
  EXPECT_FALSE(readable(*timer));
}

TEST(ManualClock, TimerMayOutliveItsClock) {
  auto clock = std::make_unique<ManualClock>();
  const auto timer = clock->make_timer();
  clock.reset();
  timer->arm(kLongAgo);
  EXPECT_TRUE(readable(*timer));
}

TEST(ManualClock, AnotherThreadThatWaitsOnATimerIsWoken) {
  ManualClock clock;
  const auto timer = clock.make_timer();
  timer->arm(clock.now() + 1s);
  bool woken = false;
  std::thread waiter([&] { woken = readable(*timer, 10'000); });
  for (int i = 0; i < 100; ++i) clock.advance(10ms);
  waiter.join();
  EXPECT_TRUE(woken);
}

}  // namespace
}  // namespace tenure::testkit
