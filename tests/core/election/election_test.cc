// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/machine_world.h"

#include <functional>

namespace tenure::core {
namespace {

constexpr Instant kStart = at(hours(1));

TEST(Election, DoesNothingBeforeItIsStarted) {
  MachineWorld w;
  w.tick();
  w.yield();
  w.work_ended();
  w.sees(std::nullopt, 1);
  w.granted(7);
  EXPECT_TRUE(w.effects.empty());
  EXPECT_EQ(w.machine.next_deadline(), kNever);
  EXPECT_EQ(w.phase(), Phase::idle);
}

TEST(Election, StartOpensTheWatchAndAsksForTheRecord) {
  MachineWorld w;
  w.start();
  EXPECT_EQ(w.count<OpenWatch>(), 1);
  EXPECT_EQ(w.count<SendAcquire>(), 1);
  EXPECT_EQ(w.last<SendAcquire>().limit, kStart + seconds(3));
  EXPECT_EQ(w.phase(), Phase::standing);
  w.start();
  EXPECT_EQ(w.count<SendAcquire>(), 1) << "started twice is started once";
}

TEST(Election, TermBeginsWithTheTokenOfTheRecord) {
  MachineWorld w;
  w.lead(7);
  EXPECT_EQ(w.last<BeginTerm>().token, 7U);
  EXPECT_EQ(w.machine.holder(), "A");
  EXPECT_TRUE(w.held());
}

TEST(Election, AnswerOfAnEarlierRequestIsDropped) {
  MachineWorld w;
  w.start();
  const Generation first = w.request;
  w.run_for(seconds(4));
  ASSERT_GT(w.request, first);
  w.machine.on_acquire(first, AcquireReply{true, w.ours(7), kStart, false}, w.now);
  EXPECT_TRUE(w.machine.take_effects().empty());
  EXPECT_EQ(w.phase(), Phase::standing);
}

TEST(Election, AnswerOfAnotherKindIsDropped) {
  MachineWorld w;
  w.lead(7);
  w.run_for(seconds(5));
  w.forget();
  w.held_by("B", 9);
  w.released();
  EXPECT_TRUE(w.effects.empty());
  w.renewed();
  EXPECT_EQ(w.count<MoveDeadline>(), 1);
}

TEST(Election, SecondAnswerToOneRequestIsDropped) {
  MachineWorld w;
  w.lead(7);
  w.run_for(seconds(5));
  w.renewed();
  w.forget();
  w.renew_gone();
  EXPECT_TRUE(w.effects.empty());
  EXPECT_TRUE(w.held());
}

TEST(Election, StateOfAnEarlierWatchIsDropped) {
  MachineWorld w;
  w.lead(7);
  const Generation first = w.watch;
  w.watch_fails(Errc::unavailable);
  w.run_for(seconds(1));
  ASSERT_GT(w.watch, first);
  w.machine.on_watch(first, ElectionState{"billing", std::nullopt, 99, true}, w.now);
  EXPECT_TRUE(w.machine.take_effects().empty());
  EXPECT_TRUE(w.held());
}

TEST(Election, AnswerAtTheLimitItselfIsTooLate) {
  MachineWorld w;
  w.start();
  w.sleep_to(hours(1) + seconds(3));
  w.granted(7);
  EXPECT_EQ(w.count<BeginTerm>(), 0);
}

TEST(Election, ElectedAndLostAlternateOverManyTerms) {
  MachineWorld w(with_work());
  w.start();
  for (std::uint64_t revision = 1; revision <= 30; ++revision) {
    w.granted(revision);
    ASSERT_EQ(w.phase(), Phase::leading) << revision;
    if (revision % 3 == 0) w.yield();
    if (revision % 3 == 1) w.sees(std::nullopt, revision + 1);
    if (revision % 3 == 2) w.run_for(seconds(15));
    w.work_ended();
    if (w.phase() == Phase::stepping_down) w.released();
    while (w.phase() != Phase::standing) w.run_to(w.machine.next_deadline());
  }
  EXPECT_EQ(w.judge.terms(), 30);
  EXPECT_EQ(w.judge.losses().size(), 30U);
}

TEST(Election, ST03_StandsAgainForEverAfterALoss) {
  MachineWorld w;
  w.lead(7);
  w.run_for(seconds(15));
  EXPECT_EQ(w.losses(), "expired");
  w.run_for(hours(2));
  EXPECT_EQ(w.phase(), Phase::standing);
  w.forget();
  w.run_for(minutes(1));
  EXPECT_GT(w.count<SendAcquire>(), 3);
}

TEST(Election, StopBeforeTheStartIsTheEnd) {
  MachineWorld w;
  w.stop(seconds(1));
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_FALSE(w.last<Finish>().error);
  w.start();
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.count<SendAcquire>(), 0);
}

TEST(Election, StopTwiceIsTheEarlierOfTheTwoLimits) {
  MachineWorld w(with_work());
  w.lead();
  w.stop(seconds(60));
  w.stop(seconds(2));
  w.stop(seconds(90));
  w.run_for(seconds(2));
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.last<Finish>().error->code, Errc::timed_out);
  w.stop(seconds(1));
  EXPECT_EQ(w.count<Finish>(), 1);
}

TEST(Election, NothingComesAfterTheFinishWhateverStillArrives) {
  MachineWorld w(with_work());
  w.lead();
  w.run_for(seconds(5));
  w.stop(seconds(1));
  w.run_for(seconds(1));
  ASSERT_EQ(w.phase(), Phase::stopped);
  w.forget();
  w.renewed();
  w.released();
  w.sees(record_of("B", 99), 99);
  w.sees(std::nullopt, 100);
  w.watch_fails(Errc::closed);
  w.work_ended();
  w.yield();
  w.tick();
  w.run_for(hours(9));
  EXPECT_TRUE(w.effects.empty());
  EXPECT_EQ(w.machine.next_deadline(), kNever);
}

// Every phase that a stop can find, by how one gets there.
struct Phases {
  const char* name;
  std::function<void(MachineWorld&)> reach;
};

std::vector<Phases> phases_before_a_term() {
  return {{"idle", [](MachineWorld&) {}},
          {"standing, asking", [](MachineWorld& w) { w.start(); }},
          {"standing, waiting",
           [](MachineWorld& w) {
             w.start();
             w.held_by("B", 5);
           }},
          {"standing in line",
           [](MachineWorld& w) {
             w.start();
             w.held_by(record_of("B", 5), true);
           }},
          {"standing after an error",
           [](MachineWorld& w) {
             w.start();
             w.acquire_fails(Errc::unavailable);
           }},
          {"standing in doubt",
           [](MachineWorld& w) {
             w.start();
             w.acquire_fails(Errc::outcome_unknown);
           }},
          {"standing with an unconfirmed record",
           [](MachineWorld& w) {
             w.start();
             w.acquire_fails(Errc::outcome_unknown);
             w.run_to(w.machine.next_deadline());
             w.granted(7);
           }},
          {"standing, releasing what was left over", [](MachineWorld& w) {
             w.lead(7);
             w.run_for(seconds(15));
             w.work_ended();
             w.run_for(seconds(3));
             w.granted(7);
           }}};
}

std::vector<Phases> phases_of_a_term() {
  return {{"leading", [](MachineWorld& w) { w.lead(); }},
          {"leading, renewing",
           [](MachineWorld& w) {
             w.lead();
             w.run_for(seconds(6));
           }},
          {"told",
           [](MachineWorld& w) {
             w.lead();
             w.run_for(seconds(13));
           }},
          {"stepping down",
           [](MachineWorld& w) {
             w.lead();
             w.yield();
           }},
          {"overrun",
           [](MachineWorld& w) {
             w.lead();
             w.run_for(seconds(40));
           }},
          {"taken over",
           [](MachineWorld& w) {
             w.lead();
             w.sees(record_of("B", 9), 9);
           }},
          {"releasing",
           [](MachineWorld& w) {
             w.lead();
             w.yield();
             w.work_ended();
           }},
          {"pausing", [](MachineWorld& w) {
             w.lead();
             w.yield();
             w.work_ended();
             w.released();
           }}};
}

std::vector<Phases> phases() {
  std::vector<Phases> all = phases_before_a_term();
  for (Phases& phase : phases_of_a_term()) all.push_back(std::move(phase));
  return all;
}

// How the store behaves from the stop on.
struct Stores {
  const char* name;
  std::function<void(MachineWorld&)> answer;
};

const std::vector<Stores>& stores() {
  static const std::vector<Stores> all{{"silent", [](MachineWorld&) {}},
                                       {"down",
                                        [](MachineWorld& w) {
                                          w.acquire_fails(Errc::unavailable);
                                          w.renew_fails(Errc::unavailable);
                                          w.release_fails(Errc::unavailable);
                                          w.watch_fails(Errc::unavailable);
                                        }},
                                       {"unsure",
                                        [](MachineWorld& w) {
                                          w.acquire_fails(Errc::outcome_unknown);
                                          w.renew_fails(Errc::outcome_unknown);
                                          w.release_fails(Errc::outcome_unknown);
                                        }},
                                       {"closed",
                                        [](MachineWorld& w) {
                                          w.acquire_fails(Errc::closed);
                                          w.renew_fails(Errc::closed);
                                          w.release_fails(Errc::closed);
                                          w.watch_fails(Errc::closed);
                                        }},
                                       {"refusing",
                                        [](MachineWorld& w) {
                                          w.acquire_fails(Errc::permission_denied);
                                          w.renew_fails(Errc::permission_denied);
                                          w.release_fails(Errc::permission_denied);
                                        }},
                                       {"granting",
                                        [](MachineWorld& w) {
                                          w.granted(50);
                                          w.renewed();
                                        }},
                                       {"well", [](MachineWorld& w) {
                                          w.held_by("B", 60);
                                          w.renewed();
                                          w.released();
                                        }}};
  return all;
}

TEST(Election, LK01_StopEndsWithinItsLimitFromEveryPhaseWithEveryKindOfStore) {
  for (const Phases& phase : phases()) {
    for (const Stores& store : stores()) {
      for (const bool work_ends : {true, false}) {
        SCOPED_TRACE(std::string(phase.name) + ", store " + store.name);
        MachineWorld w(with_work());
        phase.reach(w);
        const Instant limit = w.now + seconds(2);
        w.stop(seconds(2));
        EXPECT_FALSE(w.held());
        for (int step = 0; step < 400 && w.phase() != Phase::stopped; ++step) {
          store.answer(w);
          if (work_ends && step == 3) w.work_ended();
          w.run_to(std::min(limit, w.now + milliseconds(5)));
        }
        EXPECT_EQ(w.phase(), Phase::stopped);
        EXPECT_LE(w.now, limit);
        EXPECT_EQ(w.count<Finish>(), 1);
        const bool has_work = w.judge.working();
        const std::string kind = store.name;
        if (has_work || kind == "silent" || kind == "down" || kind == "unsure") continue;
        if (kind == "well") {
          EXPECT_FALSE(w.last<Finish>().error);
        }
      }
    }
  }
}

TEST(Election, StopWithNoTimeAtAllEndsAtOnceAndSaysWhatIsLeft) {
  MachineWorld w;
  w.lead();
  w.stop(Duration::zero());
  EXPECT_EQ(w.phase(), Phase::stopped);
  EXPECT_EQ(w.losses(), "stopped");
  ASSERT_TRUE(w.last<Finish>().error);
  EXPECT_NE(w.last<Finish>().error->message.find("lapse"), std::string::npos);
}

TEST(Election, NextDeadlineIsNeverStuckInThePast) {
  // Each phase, left alone for an hour: timers come, none of them twice at one instant (run_to
  // fails otherwise), and unless user work is what is waited for, there is always a next one.
  for (const Phases& phase : phases()) {
    SCOPED_TRACE(phase.name);
    MachineWorld w(with_work());
    phase.reach(w);
    w.run_for(hours(1));
    if (w.phase() == Phase::idle) continue;
    EXPECT_NE(w.machine.next_deadline() == kNever, !w.judge.working());
    EXPECT_LT(w.judge.requests(), 3600 * 2);
  }
}

}  // namespace
}  // namespace tenure::core
