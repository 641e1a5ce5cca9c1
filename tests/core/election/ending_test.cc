// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/machine_world.h"

namespace tenure::core {
namespace {

constexpr Instant kStart = at(hours(1));

MachineWorld::Setup with_work_or_abort() {
  MachineWorld::Setup setup = with_work();
  setup.options.on_overrun = Overrun::abort;
  return setup;
}

TEST(Ending, RH01_OrderOfAYieldIsHeldFalseThenWorkEndedThenReleased) {
  MachineWorld w(with_work());
  w.lead(7);
  w.forget();
  w.yield();
  EXPECT_EQ(w.losses(), "yielded");
  EXPECT_FALSE(w.held());
  EXPECT_EQ(w.phase(), Phase::stepping_down);
  w.run_for(milliseconds(2999));
  EXPECT_EQ(w.count<SendRelease>(), 0);
  w.work_ended();
  EXPECT_EQ(w.last<SendRelease>().revision, 7U);
}

TEST(Ending, RH01_RecordIsRenewedWhileTheWorkEnds) {
  MachineWorld::Setup setup = with_work();
  setup.options.ttl = seconds(15);
  setup.options.grace = seconds(6);
  setup.options.renew_interval = seconds(2);
  MachineWorld w(std::move(setup));
  w.lead();
  w.yield();
  w.forget();
  for (int i = 0; i < 2; ++i) {
    w.run_for(seconds(2));
    w.renewed();
  }
  EXPECT_EQ(w.count<SendRenew>(), 2);
  EXPECT_EQ(w.count<SendRelease>(), 0);
  EXPECT_FALSE(w.held()) << "but held() does not come back";
  w.work_ended();
  EXPECT_EQ(w.count<SendRelease>(), 1);
}

TEST(Ending, RH01_WorkThatOverrunsIsNotFollowedByARelease) {
  MachineWorld w(with_work());
  w.lead();
  w.yield();
  w.run_for(minutes(10));
  EXPECT_EQ(w.count<SendRelease>(), 0);
  EXPECT_EQ(w.count<SendRenew>() + w.count<AbortProcess>(), 0) << "it is left to lapse";
  EXPECT_TRUE(w.last<ReportTrouble>().of_work) << "no outage of the store";
  EXPECT_EQ(w.machine.next_deadline(), kNever);
  w.work_ended();
  EXPECT_EQ(w.count<SendRelease>(), 1) << "that incarnation, if it is still there";
  w.released(false);
  EXPECT_EQ(w.count<ReportTrouble>(), 1) << "so the store has not recovered from anything";
  w.run_for(seconds(1));
  EXPECT_EQ(w.phase(), Phase::standing);
}

TEST(Ending, RH01_CandidateDoesNotStandAgainBeforeItsWorkHasEnded) {
  MachineWorld w(with_work());
  w.lead();
  w.sees(std::nullopt, 8);
  w.run_for(minutes(10));
  EXPECT_EQ(w.count<SendAcquire>(), 1);
  w.work_ended();
  EXPECT_EQ(w.count<SendAcquire>(), 2);
}

TEST(Ending, SB11_OverrunAbortsWhenTheOptionsSaySo) {
  MachineWorld w(with_work_or_abort());
  w.lead(7);
  w.run_to(kStart + seconds(15) - nanoseconds(1));
  EXPECT_EQ(w.count<AbortProcess>(), 0);
  w.run_for(nanoseconds(1));
  EXPECT_EQ(w.last<AbortProcess>().token, 7U);
  w.run_for(minutes(1));
  EXPECT_EQ(w.count<AbortProcess>(), 1);
}

TEST(Ending, SB11_AbortNamesOurTermAndNotTheRivals) {
  MachineWorld w(with_work_or_abort());
  w.lead(7);
  w.sees(record_of("B", 9), 9);
  w.run_for(seconds(3));
  EXPECT_EQ(w.last<AbortProcess>().token, 7U);
}

TEST(Ending, SB11_StopAfterTheWorkWasToldGivesItNoSecondGrace) {
  MachineWorld w(with_work_or_abort());
  w.lead(7);
  w.run_for(seconds(14));
  ASSERT_EQ(w.count<TellWork>(), 1);
  w.stop(minutes(1));
  w.run_to(kStart + seconds(15));
  EXPECT_EQ(w.count<AbortProcess>(), 1) << "the record may be free from the deadline on";
}

TEST(Ending, AbandonedWorkIsNotRenewedForAfterTheDeadline) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(15));
  w.forget();
  w.run_for(minutes(5));
  EXPECT_EQ(w.count<SendRenew>(), 0);
}

TEST(Ending, WorkThatEndsByItselfYieldsTheTerm) {
  MachineWorld w(with_work());
  w.lead();
  w.work_ended();
  EXPECT_EQ(w.losses(), "yielded");
  EXPECT_EQ(w.count<SendRelease>(), 1);
  w.work_ended();
  w.released();
  EXPECT_EQ(w.phase(), Phase::pausing);
}

TEST(Ending, WorkThatEndsAfterItWasToldEndsTheTermForTheReasonItWasTold) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(5));
  w.renew_fails(Errc::permission_denied);
  w.run_for(milliseconds(100));
  while (w.count<TellWork>() == 0) {
    w.renew_fails(Errc::permission_denied);
    w.run_to(w.machine.next_deadline());
  }
  w.run_for(seconds(1));
  EXPECT_TRUE(w.held());
  w.work_ended();
  EXPECT_EQ(w.losses(), "unauthorized");
  EXPECT_FALSE(w.held());
  EXPECT_EQ(w.count<SendRelease>(), 1);
  EXPECT_LT(w.place<EndTerm>(), w.place<SendRelease>());
}

TEST(Ending, SB01_TakeoverSeenWhileTheWorkIsToldIsTheReason) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(13));
  w.sees(record_of("B", 9), 9);
  EXPECT_EQ(w.losses(), "taken_over");
  w.run_for(minutes(1));
  EXPECT_EQ(w.losses(), "taken_over") << "one reason for one loss";
}

TEST(Ending, YieldLetsAnotherBeElectedBeforeItStandsAgain) {
  MachineWorld w;
  w.lead(7);
  w.yield();
  w.released();
  ASSERT_EQ(w.phase(), Phase::pausing);
  w.forget();
  w.run_for(milliseconds(499));
  EXPECT_EQ(w.count<SendAcquire>(), 0);
  w.run_for(milliseconds(1));
  EXPECT_EQ(w.count<SendAcquire>(), 1) << "nobody wanted it";
}

TEST(Ending, YieldPauseEndsOnceAnotherLeads) {
  MachineWorld w;
  w.lead(7);
  w.yield();
  w.released();
  w.sees(std::nullopt, 8);
  EXPECT_EQ(w.phase(), Phase::pausing);
  w.sees(record_of("B", 9), 9);
  EXPECT_EQ(w.phase(), Phase::standing);
  EXPECT_EQ(w.machine.holder(), "B");
}

TEST(Ending, LateStateOfOurOwnTermOrOfTheOneBeforeDoesNotEndThePause) {
  MachineWorld w;
  w.lead(7);
  w.yield();
  w.released();
  w.sees(record_of("B", 5), 5);
  EXPECT_EQ(w.phase(), Phase::pausing);
  w.sees(w.ours(7), 7);
  EXPECT_EQ(w.phase(), Phase::pausing);
}

TEST(Ending, RivalSeenBeforeTheReleaseIsAnsweredEndsIt) {
  MachineWorld w;
  w.lead(7);
  w.yield();
  w.sees(record_of("B", 9), 9);
  EXPECT_NE(w.phase(), Phase::stepping_down);
  w.forget();
  w.released();
  EXPECT_TRUE(w.effects.empty()) << "its answer comes too late to matter";
}

TEST(Ending, YieldOfWhoDoesNotLeadIsNothing) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  w.forget();
  w.yield();
  EXPECT_TRUE(w.effects.empty());
}

TEST(Ending, RH02_FailedReleaseIsTriedAgainAndNotForgotten) {
  MachineWorld w;
  w.lead(7);
  w.yield();
  for (int i = 0; i < 3; ++i) {
    w.release_fails(Errc::unavailable);
    w.run_until<SendRelease>();
    EXPECT_EQ(w.last<SendRelease>().revision, 7U);
  }
  EXPECT_EQ(w.phase(), Phase::stepping_down);
  w.released();
  EXPECT_EQ(w.phase(), Phase::pausing);
}

TEST(Ending, RH02_ReleaseOfUnknownOutcomeIsRepeatedForTheSameIncarnation) {
  MachineWorld w;
  w.lead(7);
  w.stop(seconds(10));
  w.run_for(seconds(3));
  w.run_until<SendRelease>();
  EXPECT_EQ(w.last<SendRelease>().revision, 7U);
  w.released(false);
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_FALSE(w.last<Finish>().error);
}

TEST(Ending, RH02_ReleaseThatFailsUntilTheRecordHasLapsedGivesUpOnIt) {
  MachineWorld w;
  w.lead(7);
  w.yield();
  while (w.now < kStart + seconds(15)) {
    w.release_fails(Errc::unavailable);
    EXPECT_EQ(w.phase(), Phase::stepping_down);
    w.run_to(w.machine.next_deadline());
  }
  w.release_fails(Errc::unavailable);
  EXPECT_EQ(w.phase(), Phase::pausing);
}

TEST(Ending, SB06_ReleaseNamesTheIncarnation) {
  MachineWorld w;
  w.lead(7);
  w.yield();
  EXPECT_EQ(w.last<SendRelease>().revision, 7U);
}

TEST(Ending, StopWhileStandingHasNothingToRelease) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  w.stop(seconds(2));
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.count<SendRelease>(), 0);
}

TEST(Ending, ST07_StopWhileAnAcquireIsInFlightLearnsItsOutcomeFirst) {
  MachineWorld w;
  w.start();
  w.stop(seconds(5));
  EXPECT_EQ(w.phase(), Phase::standing);
  w.granted(7);
  EXPECT_EQ(w.count<BeginTerm>(), 0) << "EV-04: closing never starts anything";
  EXPECT_EQ(w.last<SendRelease>().revision, 7U);
  w.released();
  EXPECT_EQ(w.phase(), Phase::stopped);
}

TEST(Ending, ST07_StopAfterALostAcquireReleasesWhateverTheSessionHas) {
  for (const Errc code : {Errc::outcome_unknown, Errc::timed_out}) {
    MachineWorld w;
    w.start();
    w.acquire_fails(code);
    w.stop(seconds(5));
    EXPECT_EQ(w.last<SendRelease>().revision, 0U);
    w.released(false);
    EXPECT_EQ(w.phase(), Phase::stopped);
  }
}

TEST(Ending, StopWhileInLineLeavesTheLine) {
  MachineWorld w;
  w.start();
  w.held_by(record_of("B", 5), true);
  w.stop(seconds(5));
  EXPECT_EQ(w.last<SendRelease>().revision, 0U);
}

TEST(Ending, StopWhilePausingIsTheEndAtOnce) {
  MachineWorld w;
  w.lead();
  w.yield();
  w.released();
  w.stop(seconds(1));
  EXPECT_EQ(w.phase(), Phase::stopped);
}

TEST(Ending, EV04_StopWhileLeadingReportsOneLossAndNoBegin) {
  MachineWorld w(with_work());
  w.lead();
  w.stop(seconds(5));
  EXPECT_EQ(w.losses(), "stopped");
  w.run_for(seconds(1));
  w.work_ended();
  w.released();
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.losses(), "stopped");
  EXPECT_EQ(w.count<BeginTerm>(), 1);
}

TEST(Ending, StopWhileStarvingKeepsOneReason) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(13));
  w.stop(seconds(5));
  EXPECT_EQ(w.losses(), "stopped");
}

TEST(Ending, StoreThatOnceGrantedNothingIsStillAskedWithWholeLimits) {
  MachineWorld w;
  w.start();
  w.granted(7, {}, Duration::zero());
  EXPECT_EQ(w.count<BeginTerm>(), 0);
  w.run_until<SendAcquire>();
  EXPECT_EQ(w.last<SendAcquire>().limit, w.now + seconds(3));
  w.run_for(seconds(1));
  w.granted(8);
  if (w.count<BeginTerm>() == 0) w.renewed();
  EXPECT_EQ(w.phase(), Phase::leading);
}

}  // namespace
}  // namespace tenure::core
