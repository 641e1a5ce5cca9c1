// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/machine_world.h"

namespace tenure::core {
namespace {

constexpr Instant kStart = at(hours(1));

MachineWorld::Setup judged_by_observers() {
  MachineWorld::Setup setup;
  setup.expiry = ExpiryBy::observers;
  setup.options.drift = 0.01;
  setup.options.retry_first = milliseconds(1);
  return setup;
}

TEST(Standing, WaitsForTheWatchToTellOfAVacancy) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  w.run_for(seconds(14));
  EXPECT_EQ(w.count<SendAcquire>(), 1);
  w.sees(std::nullopt, 6);
  EXPECT_EQ(w.count<SendAcquire>(), 2);
}

TEST(Standing, AsksByItselfOnceInAWhileInCaseTheWatchIsDeaf) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  w.run_until<SendAcquire>();
  EXPECT_GE(w.now, kStart + seconds(15));
  EXPECT_LE(w.now, kStart + seconds(30));
}

TEST(Standing, VacancySeenWhileAskingIsNotLost) {
  MachineWorld w;
  w.start();
  w.sees(std::nullopt, 6);
  w.held_by("B", 5);
  EXPECT_EQ(w.count<SendAcquire>(), 2) << "the answer may be older than the vacancy";
  w.held_by("C", 7);
  EXPECT_EQ(w.count<SendAcquire>(), 2) << "once is enough";
}

TEST(Standing, HolderSeenAfterTheVacancyCancelsIt) {
  MachineWorld w;
  w.start();
  w.sees(std::nullopt, 6);
  w.sees(record_of("C", 7), 7);
  w.held_by("C", 7);
  EXPECT_EQ(w.count<SendAcquire>(), 1);
}

TEST(Standing, StoreThatSaysNobodyHoldsIsAskedAgainAfterAWait) {
  MachineWorld w;
  w.start();
  for (int i = 0; i < 100; ++i) {
    w.acquire(AcquireReply{false, std::nullopt, kLongAgo, false});
    w.run_to(w.machine.next_deadline());
  }
  EXPECT_GE(w.now - kStart, seconds(60));
}

TEST(Standing, ST07_LostAnswerIsResolvedBeforeATermIsCounted) {
  MachineWorld w;
  w.start();
  w.run_for(seconds(3));
  w.run_to(w.machine.next_deadline());
  ASSERT_EQ(w.count<SendAcquire>(), 2);
  w.run_for(seconds(1));
  // The first one took effect: same session. When its validity began is not known.
  w.granted(7, w.now);
  EXPECT_EQ(w.count<BeginTerm>(), 0);
  ASSERT_EQ(w.count<SendRenew>(), 1) << "count validity only from a renewal sent after that";
  const Instant renewal = w.sent_at;
  w.run_for(seconds(1));
  w.renewed();
  EXPECT_EQ(w.last<BeginTerm>().deadline, renewal + seconds(15));
}

TEST(Standing, ST07_EveryErrorThatMayHaveTakenEffectIsResolved) {
  for (const Errc code : {Errc::outcome_unknown, Errc::timed_out}) {
    MachineWorld w;
    w.start();
    w.acquire_fails(code);
    w.run_to(w.machine.next_deadline());
    w.granted(7);
    EXPECT_EQ(w.count<BeginTerm>(), 0) << to_string(code);
    w.renewed();
    EXPECT_EQ(w.count<BeginTerm>(), 1);
  }
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::unavailable);
  w.run_to(w.machine.next_deadline());
  w.granted(7);
  EXPECT_EQ(w.count<BeginTerm>(), 1) << "surely nothing was changed: no renewal is needed";
}

TEST(Standing, ST07_OwnRecordInTheWatchIsALostAnswerToo) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::unavailable);
  w.sees(w.ours(7), 7);
  w.run_to(w.now);
  w.granted(7);
  EXPECT_EQ(w.count<BeginTerm>(), 0);
  EXPECT_EQ(w.count<SendRenew>(), 1);
}

TEST(Standing, ST07_StrayRequestThatTakesEffectTermsLaterIsStillResolved) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::outcome_unknown);
  w.run_to(w.machine.next_deadline());
  w.granted(7);
  w.renewed();
  ASSERT_EQ(w.phase(), Phase::leading);
  w.sees(std::nullopt, 8);
  // The very first request has now made a record, long before we ask again.
  w.granted(9, w.now);
  EXPECT_EQ(w.judge.terms(), 1);
  w.renewed();
  EXPECT_EQ(w.judge.terms(), 2);
}

TEST(Standing, UnconfirmedRecordThatIsGoneIsAskedForAgain) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::outcome_unknown);
  w.run_to(w.machine.next_deadline());
  w.granted(7);
  w.renew_gone();
  w.run_for(milliseconds(200));
  EXPECT_EQ(w.count<SendAcquire>(), 3);
  EXPECT_EQ(w.losses(), "") << "no term had begun";
}

TEST(Standing, GrantsThatVanishAreNotAskedForWithoutAPause) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::outcome_unknown);
  Duration longest{};
  for (std::uint64_t revision = 1; revision < 50; ++revision) {
    w.run_until<SendAcquire>();
    w.granted(revision);
    const Instant gone = w.now;
    const int asked = w.count<SendAcquire>();
    w.renew_gone();
    ASSERT_EQ(w.count<SendAcquire>(), asked);
    longest = std::max(longest, w.machine.next_deadline() - gone);
  }
  EXPECT_GT(longest, seconds(2)) << "the waits grow";
}

TEST(Standing, UnconfirmedRecordWhoseRenewalFailsIsInDoubtAgain) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::outcome_unknown);
  w.run_to(w.machine.next_deadline());
  w.granted(7);
  w.renew_fails(Errc::unavailable);
  w.run_to(w.machine.next_deadline());
  EXPECT_EQ(w.count<SendAcquire>(), 3);
  w.granted(7);
  EXPECT_EQ(w.count<BeginTerm>(), 0);
  w.renewed();
  EXPECT_EQ(w.count<BeginTerm>(), 1);
}

TEST(Standing, AnswerThatComesTooLateToLeadOnIsRenewedFirst) {
  MachineWorld w;
  w.start();
  w.granted(7, w.now - seconds(12));
  EXPECT_EQ(w.count<BeginTerm>(), 0) << "the grace before the deadline has begun";
  w.run_to(w.machine.next_deadline());
  ASSERT_EQ(w.count<SendRenew>(), 1);
  w.renewed();
  EXPECT_EQ(w.last<BeginTerm>().deadline, w.now + seconds(15));
}

TEST(Standing, SB03_OwnStaleRecordIsNotAdoptedAfterAnOutage) {
  MachineWorld w;
  w.lead(7);
  w.run_for(seconds(15));
  w.run_for(seconds(10));
  EXPECT_EQ(w.losses(), "expired");
  ASSERT_EQ(w.phase(), Phase::standing);
  w.run_until<SendAcquire>();
  w.forget();
  w.granted(7);
  EXPECT_EQ(w.count<BeginTerm>(), 0);
  EXPECT_EQ(w.last<SendRelease>().revision, 7U);
  w.released();
  ASSERT_EQ(w.count<SendAcquire>(), 1);
  w.granted(8);
  w.renewed();
  EXPECT_EQ(w.judge.token(), 8U) << "a new term, a new revision";
}

TEST(Standing, StoreThatKeepsHandingOutTheOldRecordIsAskedSlowerAndSlower) {
  MachineWorld w;
  w.lead(7);
  w.sees(std::nullopt, 8);
  while (w.now < kStart + minutes(5)) {
    w.granted(7);
    w.released();
    w.run_to(std::max(w.now, w.machine.next_deadline()));
  }
  EXPECT_LT(w.judge.requests(), 500);
}

TEST(Standing, StoreRestoredFromABackupIsNotLedOn) {
  MachineWorld w;
  w.lead(70);
  w.sees(std::nullopt, 71);
  w.granted(30);
  EXPECT_EQ(w.judge.terms(), 1);
  EXPECT_EQ(w.last<ReportTrouble>().error.code, Errc::corrupt);
  EXPECT_NE(w.last<ReportTrouble>().error.message.find("backup"), std::string::npos);
  while (w.now < kStart + minutes(10)) {
    w.granted(31);
    w.run_to(std::max(w.now, w.machine.next_deadline()));
    w.released();
  }
  EXPECT_EQ(w.judge.terms(), 1);
  EXPECT_LT(w.judge.requests(), 1000);
  EXPECT_LT(w.count<ReportTrouble>(), 40);
}

TEST(Standing, TokenThatDoesNotGrowIsNotLedOn) {
  MachineWorld w;
  w.lead(7);
  w.sees(std::nullopt, 8);
  Record record = w.ours(9);
  record.token = 7;
  w.acquire(AcquireReply{true, record, w.now, false});
  EXPECT_EQ(w.judge.terms(), 1);
  EXPECT_EQ(w.last<ReportTrouble>().error.code, Errc::corrupt);
}

TEST(Standing, RecordWithoutANumberIsNotLedOn) {
  MachineWorld w;
  w.start();
  w.granted(0);
  EXPECT_EQ(w.count<BeginTerm>(), 0);
  EXPECT_EQ(w.last<ReportTrouble>().error.code, Errc::corrupt);
}

TEST(Standing, SB09_GrantOfAnotherSessionIsRefusedThoughTheIdIsOurs) {
  MachineWorld w;
  w.start();
  w.acquire(AcquireReply{true, record_of("session-b", 7, "A"), w.now, false});
  EXPECT_EQ(w.count<BeginTerm>(), 0);
  EXPECT_EQ(w.last<ReportTrouble>().error.code, Errc::corrupt);
  w.run_to(w.machine.next_deadline());
  w.acquire(AcquireReply{true, std::nullopt, w.now, false});
  EXPECT_EQ(w.count<BeginTerm>(), 0);
}

TEST(Standing, ObserversWaitForTheTtlLengthenedByTheDriftAfterTheLastChangeTheySaw) {
  MachineWorld w(judged_by_observers());
  w.start();
  const Record b = record_of("B", 5);
  w.held_by(b);
  EXPECT_FALSE(w.last<SendAcquire>().judged_expired);
  w.run_for(milliseconds(15'150));
  EXPECT_EQ(w.count<SendAcquire>(), 1) << "ttl x (1 + drift)";
  w.run_for(milliseconds(2));
  ASSERT_EQ(w.count<SendAcquire>(), 2);
  EXPECT_EQ(w.last<SendAcquire>().judged_expired, b);
}

TEST(Standing, RenewalThatAnObserverSeesBeginsTheWaitAnew) {
  MachineWorld w(judged_by_observers());
  w.start();
  Record b = record_of("B", 5);
  w.held_by(b);
  for (int i = 0; i < 20; ++i) {
    w.run_for(seconds(5));
    ++b.renewal;
    w.sees(b, 5);
    w.held_by(b);
  }
  for (const auto& [when, effect] : w.log) {
    if (const auto* one = std::get_if<SendAcquire>(&effect)) {
      EXPECT_FALSE(one->judged_expired);
    }
  }
  const Instant last_change = w.now;
  w.forget();
  while (w.count<SendAcquire>() == 0 || !w.last<SendAcquire>().judged_expired) {
    w.run_to(w.machine.next_deadline());
    if (!w.last<SendAcquire>().judged_expired) w.held_by(b);
  }
  EXPECT_GE(w.now - last_change, milliseconds(15'150));
  EXPECT_EQ(w.last<SendAcquire>().judged_expired, b);
}

TEST(Standing, StateThatDoesNotChangeDoesNotBeginTheWaitAnew) {
  MachineWorld w(judged_by_observers());
  w.start();
  const Record b = record_of("B", 5);
  w.held_by(b);
  for (std::uint64_t i = 0; i < 15; ++i) {
    w.run_for(seconds(1));
    w.sees(b, 6 + i);
  }
  w.run_for(milliseconds(152));
  EXPECT_EQ(w.last<SendAcquire>().judged_expired, b);
}

TEST(Standing, JudgementThatTheStoreRefusesIsNotRepeatedWithoutAPause) {
  MachineWorld w(judged_by_observers());
  w.start();
  const Record b = record_of("B", 5);
  while (w.now < kStart + minutes(10)) {
    w.held_by(b);
    w.run_to(w.machine.next_deadline());
  }
  EXPECT_LT(w.judge.requests(), 100);
}

TEST(Standing, StoreThatJudgesExpiryItselfIsNeverTold) {
  MachineWorld w;
  w.start();
  w.held_by("B", 5);
  w.run_for(minutes(10));
  for (const auto& [when, effect] : w.log) {
    if (const auto* one = std::get_if<SendAcquire>(&effect)) {
      EXPECT_FALSE(one->judged_expired);
    }
  }
}

TEST(Standing, QueueTurnIsTakenWhenTheWatchShowsOurEntryAtTheHead) {
  MachineWorld w;
  w.start();
  w.held_by(record_of("B", 5), true);
  w.sees(record_of("B", 5), 6);
  EXPECT_EQ(w.count<SendAcquire>(), 1);
  w.sees(w.ours(6), 9);
  ASSERT_EQ(w.count<SendAcquire>(), 2);
  w.granted(6);
  EXPECT_EQ(w.count<BeginTerm>(), 1) << "a turn in the line is no lost answer: no extra renewal";
}

TEST(Standing, ST01_OwnEntryThatVanishedFromTheLineIsNoticedAndItStandsAgain) {
  MachineWorld w;
  w.start();
  w.held_by(record_of("B", 5), true);
  w.sees(record_of("B", 5), 8, false);
  EXPECT_EQ(w.count<SendAcquire>(), 2);
  w.held_by(record_of("B", 5), true);
  w.sees(record_of("B", 5), 9, true);
  EXPECT_EQ(w.count<SendAcquire>(), 2);
}

TEST(Standing, ST01_EntryThatVanishesWhileAskingIsNotLostEither) {
  MachineWorld w;
  w.start();
  w.held_by(record_of("B", 5), true);
  w.run_until<SendAcquire>();
  w.sees(record_of("B", 5), 8, false);
  w.held_by(record_of("B", 5), true);
  EXPECT_EQ(w.count<SendAcquire>(), 3);
}

TEST(Standing, PermissionProblemsAreReportedAndTriedAgain) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::permission_denied);
  EXPECT_EQ(w.last<ReportTrouble>().error.code, Errc::permission_denied);
  w.run_for(seconds(1));
  EXPECT_GE(w.count<SendAcquire>(), 2);
}

TEST(Standing, ClosedStoreIsTheEnd) {
  MachineWorld w;
  w.start();
  w.acquire_fails(Errc::closed);
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.last<Finish>().error->code, Errc::closed);
}

}  // namespace
}  // namespace tenure::core
