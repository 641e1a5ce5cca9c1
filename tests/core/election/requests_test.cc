// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/machine_world.h"

#include <algorithm>
#include <array>

namespace tenure::core {
namespace {

constexpr Instant kStart = at(hours(1));

TEST(Requests, EachRequestCarriesALimit) {
  MachineWorld w;
  w.start();
  EXPECT_EQ(w.last<SendAcquire>().limit, w.now + seconds(3));
  w.granted(7);
  w.run_for(seconds(5));
  EXPECT_EQ(w.last<SendRenew>().limit, w.now + seconds(3));
  w.renewed();
  w.yield();
  EXPECT_EQ(w.last<SendRelease>().limit, w.now + seconds(3));
}

TEST(Requests, RenewalMayNotOutlastTheTerm) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(14));
  EXPECT_EQ(w.last<SendRenew>().limit, kStart + seconds(15) - nanoseconds(0));
}

TEST(Requests, ReleaseMayNotOutlastTheStop) {
  MachineWorld w;
  w.lead();
  w.stop(seconds(1));
  EXPECT_EQ(w.last<SendRelease>().limit, w.now + seconds(1));
}

TEST(Requests, RenewNamesTheRecordAsItIsNow) {
  MachineWorld w;
  w.start();
  w.granted(7, {}, seconds(30));
  w.run_for(seconds(5));
  EXPECT_EQ(w.last<SendRenew>().record.revision, 7U);
  EXPECT_EQ(w.last<SendRenew>().record.session, "session-a");
}

TEST(Requests, OneIsInFlightAtATime) {
  MachineWorld w;
  w.start();
  w.sees(std::nullopt, 1);
  w.sees(std::nullopt, 2);
  w.run_for(seconds(2));
  EXPECT_EQ(w.count<SendAcquire>(), 1);
}

TEST(Requests, ST04_StoreThatNeverAnswersIsAskedAgainAfterTheLimit) {
  MachineWorld w;
  w.start();
  w.run_for(minutes(2));
  const int asked = w.count<SendAcquire>();
  EXPECT_GT(asked, 10);
  EXPECT_LE(asked, 41);
}

TEST(Requests, FailuresAreSpreadAndGrowUpToTheLargestWait) {
  MachineWorld w;
  w.start();
  Duration longest{};
  for (int i = 0; i < 200; ++i) {
    const Instant failed = w.now;
    w.acquire_fails(Errc::unavailable);
    w.run_to(w.machine.next_deadline());
    const Duration wait = w.now - failed;
    ASSERT_GE(wait, milliseconds(10));
    ASSERT_LE(wait, std::min<Duration>(milliseconds(50) * (1LL << std::min(i, 10)), seconds(5)));
    longest = std::max(longest, wait);
  }
  EXPECT_GT(longest, seconds(4));
}

TEST(Requests, RT01_TwoHundredMachinesAreSpreadAfterAnOutage) {
  std::array<int, 10> tenths{};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    MachineWorld::Setup setup;
    setup.seed = seed * 7919;
    MachineWorld w(std::move(setup));
    w.start();
    while (w.now < kStart + minutes(2)) {
      w.acquire_fails(Errc::unavailable);
      w.run_to(w.machine.next_deadline());
    }
    const Duration after = w.now - (kStart + minutes(2));
    ++tenths.at(static_cast<std::size_t>(after / milliseconds(500)));
  }
  const auto busy = std::count_if(tenths.begin(), tenths.end(), [](int n) { return n > 0; });
  EXPECT_GE(busy, 8);
  EXPECT_LE(*std::max_element(tenths.begin(), tenths.end()), 70);
}

TEST(Requests, OB03_TenMinutesOfOutageAreAFewReports) {
  MachineWorld w;
  w.lead();
  int round = 0;
  while (w.now < kStart + minutes(10)) {
    const Errc code = ++round % 2 == 0 ? Errc::unavailable : Errc::outcome_unknown;
    w.renew_fails(code);
    w.acquire_fails(code);
    w.release_fails(code);
    w.watch_fails(code);
    w.run_to(w.machine.next_deadline());
  }
  EXPECT_GE(w.count<ReportTrouble>(), 4);
  EXPECT_LE(w.count<ReportTrouble>(), 20);
  w.forget();
  w.run_for(minutes(1));
  w.run_until<SendAcquire>();
  w.held_by("B", 9);
  w.sees(record_of("B", 9), 9);
  int recoveries = 0;
  for (const Effect& effect : w.effects) {
    const auto* trouble = std::get_if<ReportTrouble>(&effect);
    recoveries += trouble != nullptr && trouble->recovered ? 1 : 0;
  }
  EXPECT_EQ(recoveries, 2) << "one for the requests, one for the watch";
}

TEST(Requests, OB03_StoreThatGrantsButNeverRenewsDoesNotFloodTheLog) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::outcome_unknown);
  std::uint64_t revision = 1;
  while (w.now < kStart + minutes(10)) {
    w.run_to(w.machine.next_deadline());
    w.granted(++revision);
    w.renew_fails(Errc::permission_denied);
  }
  EXPECT_LE(w.count<ReportTrouble>(), 40);
  EXPECT_LE(w.judge.requests(), 1000) << "and the store is not flooded either";
}

TEST(Requests, WatchThatFailsIsOpenedAgainAfterAWait) {
  MachineWorld w;
  w.lead();
  w.watch_fails(Errc::unavailable);
  EXPECT_EQ(w.count<CloseWatch>(), 1);
  EXPECT_EQ(w.count<OpenWatch>(), 1);
  w.run_for(milliseconds(50));
  EXPECT_EQ(w.count<OpenWatch>(), 2);
  EXPECT_TRUE(w.held()) << "a watch is not the term";
}

TEST(Requests, WatchThatOnlyEverGivesItsFirstStateIsOpenedSlowerAndSlower) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  while (w.now < kStart + minutes(10)) {
    w.sees(record_of("B", 5), 5);
    w.watch_fails(Errc::unavailable);
    w.run_to(w.machine.next_deadline());
    w.held_by("B", 5);
  }
  EXPECT_LE(w.count<OpenWatch>(), 500);
  EXPECT_LE(w.count<SendAcquire>(), 500);
  EXPECT_LE(w.count<ReportTrouble>(), 40);
}

TEST(Requests, WatchThatWorkedForAWhileIsOpenedAgainSoon) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  for (int i = 0; i < 12; ++i) {
    w.watch_fails(Errc::unavailable);
    while (w.judge.watches() < i + 2) w.run_to(w.machine.next_deadline());
  }
  w.run_for(minutes(1));
  w.forget();
  w.watch_fails(Errc::unavailable);
  w.run_for(milliseconds(50));
  EXPECT_EQ(w.count<OpenWatch>(), 1);
}

TEST(Requests, WithoutAWatchTheHolderIsAskedForAsOftenAsTheWatchIsTried) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  w.watch_fails(Errc::permission_denied);
  w.forget();
  for (int i = 0; i < 40; ++i) {
    w.run_until<OpenWatch>();
    // The answer comes while there is no watch that could tell of a vacancy.
    w.watch_fails(Errc::permission_denied);
    w.held_by("B", 5);
  }
  EXPECT_GE(w.count<SendAcquire>(), 30);
  EXPECT_LE(w.count<SendAcquire>(), 45);
  EXPECT_GE(w.now - kStart, seconds(30)) << "and not faster and faster";
}

TEST(Requests, EV03_EachNewHolderIsReportedOnce) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  EXPECT_EQ(w.last<ReportHolder>().holder, "B");
  EXPECT_EQ(w.last<ReportHolder>().token, 5U);
  w.sees(record_of("B", 5), 6);
  EXPECT_EQ(w.count<ReportHolder>(), 1);
  w.sees(record_of("C", 7), 7);
  EXPECT_EQ(w.machine.holder(), "C");
  w.sees(record_of("session-c2", 8, "C"), 8);
  EXPECT_EQ(w.count<ReportHolder>(), 3) << "the same id, but another term";
  w.sees(std::nullopt, 9);
  EXPECT_EQ(w.last<ReportHolder>().holder, "");
  EXPECT_EQ(w.last<ReportHolder>().token, 0U);
}

TEST(Requests, WC01_StateAfterAGapIsTakenAsItIs) {
  MachineWorld w;
  w.start();
  w.held_by("B", 50);
  w.sees(record_of("B", 50), 50);
  w.watch_fails(Errc::unavailable);
  w.run_for(milliseconds(60));
  // The store counts from anew (restored from a backup).
  w.sees(record_of("C", 3), 3);
  EXPECT_EQ(w.machine.holder(), "C");
}

}  // namespace
}  // namespace tenure::core
