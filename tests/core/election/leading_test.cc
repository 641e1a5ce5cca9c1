// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/machine_world.h"

#include <limits>
#include <memory>

namespace tenure::core {
namespace {

constexpr Instant kStart = at(hours(1));

TEST(Leading, CK03_DeadlineCountsFromTheSendingAndNeverFromTheAnswer) {
  MachineWorld w;
  w.start();
  w.run_for(seconds(2));
  w.granted(7);
  EXPECT_EQ(w.last<BeginTerm>().deadline, kStart + seconds(15));
  w.run_for(seconds(3));
  ASSERT_EQ(w.count<SendRenew>(), 1);
  w.run_for(milliseconds(2500));
  w.renewed();
  EXPECT_EQ(w.last<MoveDeadline>().deadline, kStart + seconds(5 + 15));
}

TEST(Leading, DriftShortensTheDeadline) {
  MachineWorld::Setup setup;
  setup.options.drift = 0.05;
  MachineWorld w(std::move(setup));
  w.lead();
  const Instant exact = kStart + milliseconds(14'250);
  EXPECT_LE(w.last<BeginTerm>().deadline, exact);
  EXPECT_GE(w.last<BeginTerm>().deadline, exact - microseconds(1));
}

TEST(Leading, StoreThatClaimsToHaveSentInTheFutureDoesNotLengthenATerm) {
  MachineWorld w;
  w.start();
  w.run_for(seconds(1));
  w.granted(7, w.now + hours(9));
  EXPECT_EQ(w.last<BeginTerm>().deadline, w.now + seconds(15));
  w.run_for(seconds(5));
  w.renew(RenewReply{true, seconds(15), kNever, {}});
  EXPECT_EQ(w.last<MoveDeadline>().deadline, w.now + seconds(15));
}

TEST(Leading, GrantedTtlCountsAndNotTheOneThatWasAsked) {
  MachineWorld w;
  w.start();
  w.granted(7, {}, seconds(30));
  EXPECT_EQ(w.last<BeginTerm>().deadline, kStart + seconds(30));
  EXPECT_EQ(w.machine.timing().ttl, seconds(30));
  MachineWorld less;
  less.start();
  less.granted(7, {}, milliseconds(1500));
  EXPECT_EQ(less.last<BeginTerm>().deadline, kStart + milliseconds(1500));
  EXPECT_EQ(less.machine.timing().grace, milliseconds(300));
  less.run_for(milliseconds(500));
  EXPECT_EQ(less.count<SendRenew>(), 1) << "the renewal interval scales with the ttl";
}

TEST(Leading, RenewalThatGrantsLessShortensTheTerm) {
  MachineWorld w;
  w.start();
  w.granted(7, {}, seconds(60));
  w.run_for(seconds(5));
  // From now on the store frees the record 6 s after it handled this renewal.
  w.renewed(seconds(6));
  EXPECT_EQ(w.last<MoveDeadline>().deadline, w.sent_at + seconds(6));
  w.run_for(seconds(6));
  EXPECT_FALSE(w.held());
}

TEST(Leading, RenewalThatGrantsLessShortensEvenATermWhoseWorkWasTold) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(12));
  ASSERT_EQ(w.count<TellWork>(), 1);
  w.renewed(milliseconds(500));
  EXPECT_EQ(w.last<MoveDeadline>().deadline, w.sent_at + milliseconds(500));
  w.run_for(milliseconds(600));
  EXPECT_EQ(w.losses(), "expired");
}

TEST(Leading, RenewalThatGrantsNothingEndsTheTermAtOnce) {
  for (const Duration ttl : {Duration::zero(), Duration(-1), Duration::min()}) {
    MachineWorld w;
    w.lead();
    w.run_for(seconds(5));
    w.renewed(ttl);
    EXPECT_FALSE(w.held());
    EXPECT_EQ(w.losses(), "expired");
  }
}

TEST(Leading, EndlessTtlIsServedWithoutOverflow) {
  MachineWorld w;
  w.start();
  w.granted(7, {}, Duration::max());
  EXPECT_TRUE(w.held());
  w.run_for(hours(20));
  EXPECT_TRUE(w.held());
  EXPECT_LE(w.judge.requests(), 24'001);
  w.run_for(hours(1));
  w.sees(record_of("B", 9), 9);
  w.held_by("B", 9);
  w.run_for(minutes(10));
  EXPECT_EQ(w.losses(), "taken_over");
}

TEST(Leading, StepsDownAtTheDeadlineWithoutAnyAnswer) {
  MachineWorld w(with_work());
  w.lead();
  w.run_to(kStart + seconds(12) - nanoseconds(1));
  EXPECT_EQ(w.phase(), Phase::leading);
  EXPECT_EQ(w.count<TellWork>(), 0);
  w.run_for(nanoseconds(1));
  EXPECT_EQ(w.count<TellWork>(), 1) << "a grace before the deadline";
  EXPECT_EQ(w.phase(), Phase::stepping_down);
  EXPECT_TRUE(w.held());
  w.run_to(kStart + seconds(15) - nanoseconds(1));
  EXPECT_EQ(w.losses(), "");
  w.run_for(nanoseconds(1));
  EXPECT_EQ(w.losses(), "expired");
}

TEST(Leading, CK02_SuspendOfTenTtlsEndsTheTermBeforeAnythingElseIsSaid) {
  MachineWorld w;
  w.lead();
  w.forget();
  w.sleep_to(hours(1) + seconds(150));
  EXPECT_FALSE(w.held()) << "by the clock alone";
  w.tick();
  EXPECT_EQ(w.losses(), "expired");
  EXPECT_LT(w.place<EndTerm>(), w.place<SendRelease>());
  w.released(false);
  EXPECT_EQ(w.count<SendAcquire>(), 1) << "it stands again instead of giving up";
}

TEST(Leading, CK02_AnswerThatArrivesAfterASuspendCannotSaveTheTerm) {
  MachineWorld w;
  w.lead();
  w.run_for(seconds(5));
  w.sleep_to(hours(1) + seconds(150));
  w.renew(RenewReply{true, seconds(15), w.now, {}});
  EXPECT_EQ(w.losses(), "expired");
  EXPECT_EQ(w.count<MoveDeadline>(), 0);
}

TEST(Leading, RenewalAnsweredAfterTheWorkWasToldDoesNotReviveTheTerm) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(12));
  ASSERT_EQ(w.count<TellWork>(), 1);
  w.renewed();
  EXPECT_EQ(w.count<MoveDeadline>(), 0);
  w.run_for(seconds(3));
  EXPECT_EQ(w.losses(), "expired");
}

TEST(Leading, RT02_OneSlowRequestDoesNotLoseTheTerm) {
  MachineWorld w;
  w.lead();
  w.run_for(seconds(5));
  const Generation slow = w.request;
  w.run_for(seconds(3));
  EXPECT_EQ(w.count<SendRenew>(), 2) << "the next whole try begins when the first has failed";
  w.run_for(milliseconds(2999));
  w.renewed();
  EXPECT_TRUE(w.held());
  EXPECT_EQ(w.losses(), "");
  // And its late answer belongs to no request.
  w.machine.on_renew(slow, RenewReply{false, {}, w.now, record_of("B", 9)}, w.now);
  EXPECT_TRUE(w.machine.take_effects().empty());
}

TEST(Leading, RT02b_ErrorsDuringTheTermDoNotStopTheRenewals) {
  MachineWorld w;
  w.lead();
  for (int round = 0; round < 50; ++round) {
    w.run_to(w.machine.next_deadline());
    w.renew_fails(round % 2 == 0 ? Errc::unavailable : Errc::conflict);
    w.run_for(seconds(3));
    w.renewed();
    ASSERT_TRUE(w.held()) << round;
  }
  EXPECT_EQ(w.losses(), "");
}

TEST(Leading, RT02b_AfterAnErrorAWholeTryFitsBeforeTheStepDown) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    MachineWorld::Setup setup;
    setup.seed = seed;
    setup.options.retry_first = seconds(5);
    MachineWorld w(std::move(setup));
    w.lead();
    w.run_for(seconds(5));
    w.renew_fails(Errc::unavailable);
    w.run_to(kStart + seconds(9));
    ASSERT_GE(w.count<SendRenew>(), 2) << "seed " << seed;
    EXPECT_EQ(w.sent_at - kStart <= seconds(9), true);
  }
}

TEST(Leading, OnlyTheErrorThatWasLastWhenTheTimeRanOutIsItsReason) {
  struct Case {
    Errc code;
    const char* reason;
  };
  for (const Case& one :
       {Case{Errc::unavailable, "expired"}, Case{Errc::outcome_unknown, "expired"},
        Case{Errc::conflict, "expired"}, Case{Errc::timed_out, "expired"},
        Case{Errc::unauthenticated, "unauthorized"}, Case{Errc::permission_denied, "unauthorized"},
        Case{Errc::corrupt, "fatal"}, Case{Errc::unsupported, "fatal"},
        Case{Errc::invalid_argument, "fatal"}, Case{Errc::closed, "fatal"},
        Case{Errc::not_found, "deleted"}}) {
    MachineWorld w(with_work());
    w.lead();
    w.run_for(seconds(5));
    for (int tries = 0; w.losses().empty() && tries < 1000; ++tries) {
      w.renew_fails(one.code);
      w.run_to(std::min(w.machine.next_deadline(), w.now + seconds(20)));
    }
    EXPECT_EQ(w.losses(), one.reason) << to_string(one.code);
  }
}

TEST(Leading, ErrorThatASuccessFollowedIsNoReasonAnyMore) {
  MachineWorld w;
  w.lead();
  w.run_for(seconds(5));
  w.renew_fails(Errc::permission_denied);
  w.run_for(seconds(3));
  w.renewed();
  w.run_for(seconds(20));
  EXPECT_EQ(w.losses(), "expired");
}

TEST(Leading, WatchThatSeesAnotherHolderEndsTheTermAtOnce) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(1));
  w.sees(record_of("B", 9), 9);
  EXPECT_EQ(w.losses(), "taken_over");
  EXPECT_FALSE(w.held());
  EXPECT_NE(w.last<EndTerm>().detail.find("B holds"), std::string::npos);
  EXPECT_EQ(w.last<ReportHolder>().holder, "B");
  w.work_ended();
  EXPECT_EQ(w.count<SendRelease>(), 0) << "there is nothing of ours to release";
  EXPECT_EQ(w.phase(), Phase::standing);
}

TEST(Leading, WatchThatSeesTheRecordGoneEndsTheTermAtOnce) {
  MachineWorld w;
  w.lead();
  w.run_for(seconds(1));
  w.sees(std::nullopt, 8);
  EXPECT_EQ(w.losses(), "deleted");
  EXPECT_EQ(w.count<SendAcquire>(), 2);
}

TEST(Leading, RenewalThatFindsTheRecordGoneEndsTheTermAtOnce) {
  MachineWorld w;
  w.lead();
  w.run_for(seconds(5));
  w.renew_gone();
  EXPECT_EQ(w.losses(), "deleted");
  MachineWorld other;
  other.lead();
  other.run_for(seconds(5));
  other.renew_gone(record_of("B", 9));
  EXPECT_EQ(other.losses(), "taken_over");
}

TEST(Leading, SB09_RivalOfTheSameIdIsARival) {
  MachineWorld w;
  w.lead();
  w.sees(record_of("session-b", 9, "A"), 9);
  EXPECT_EQ(w.losses(), "taken_over");
}

TEST(Leading, RecordOfOurSessionWithAnotherRevisionIsNotOurTerm) {
  MachineWorld w;
  w.lead(7);
  w.sees(w.ours(9), 9);
  EXPECT_EQ(w.losses(), "deleted");
}

TEST(Leading, StateOlderThanOurRecordSaysNothingAboutIt) {
  MachineWorld w;
  w.lead(7);
  w.sees(record_of("B", 5), 5);
  w.sees(std::nullopt, 6);
  EXPECT_TRUE(w.held());
  EXPECT_EQ(w.count<ReportHolder>(), 0);
  w.sees(w.ours(7), 7);
  EXPECT_TRUE(w.held());
}

TEST(Leading, StateThatComesAfterANewerOneIsDropped) {
  MachineWorld w;
  w.lead(7);
  w.sees(w.ours(7), 10);
  w.sees(std::nullopt, 9);
  EXPECT_TRUE(w.held());
  w.sees(std::nullopt, 10);
  EXPECT_EQ(w.losses(), "deleted");
}

TEST(Leading, RT04_RenewalsOfManyMachinesFallOnTheSameInstants) {
  std::vector<std::unique_ptr<MachineWorld>> worlds;
  for (int i = 0; i < 20; ++i) {
    MachineWorld::Setup setup;
    setup.phase = milliseconds(1234);
    worlds.push_back(std::make_unique<MachineWorld>(std::move(setup)));
    MachineWorld& w = *worlds.back();
    w.sleep_to(hours(1) + milliseconds(i * 731));
    w.lead();
    while (w.now < kStart + minutes(2)) {
      w.run_to(w.machine.next_deadline());
      w.renewed();
    }
    EXPECT_EQ((w.sent_at.time_since_epoch() - milliseconds(1234)) % seconds(5), Duration::zero());
    EXPECT_EQ(w.sent_at, worlds.front()->sent_at);
    EXPECT_LE(w.count<SendRenew>(), 2 + 120 / 5) << "the common grid costs no extra renewals";
  }
}

TEST(Leading, EV01_CadenceOfRenewalsDoesNotDependOnWhoReadsTheEffects) {
  MachineWorld w;
  w.lead();
  for (int i = 0; i < 20; ++i) {
    w.run_to(w.machine.next_deadline());
    w.renewed();
    // Ticks that come early do no harm.
    for (int extra = 0; extra < 50; ++extra) w.tick();
  }
  EXPECT_EQ(w.count<SendRenew>(), 20);
  EXPECT_EQ(w.now, kStart + seconds(100));
}

TEST(Leading, TinyTtlDoesNotMakeTheMachineSpin) {
  for (const Duration ttl : {Duration(1), Duration(4), Duration(1000), Duration(999'999)}) {
    MachineWorld w(with_work());
    w.lead();
    w.run_for(seconds(5));
    w.renewed(ttl);
    w.run_for(seconds(1));
    EXPECT_LT(w.judge.requests(), 100);
  }
}

TEST(Leading, RenewalsNeverFollowEachOtherWithoutAPauseHoweverOldTheAnswersAre) {
  MachineWorld w;
  w.start();
  w.granted(7, {}, hours(24));
  w.run_until<SendRenew>();
  w.forget();
  w.renew(RenewReply{true, hours(24), kStart - minutes(1), {}});
  EXPECT_TRUE(w.held());
  EXPECT_EQ(w.count<SendRenew>(), 0);
  w.run_for(milliseconds(1));
  EXPECT_EQ(w.count<SendRenew>(), 1);
}

}  // namespace
}  // namespace tenure::core
