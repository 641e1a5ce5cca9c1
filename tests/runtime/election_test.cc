// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "election_world.h"

#include <sys/wait.h>
#include <unistd.h>

namespace tenure::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Test;

using Texts = std::vector<std::string>;

TEST(Election, LeadsAtOnceWhenNobodyDoes) {
  ElectionWorld world;
  Election a = world.candidate("a");
  EXPECT_EQ(a.phase(), Phase::idle);
  EXPECT_FALSE(a.held());
  ASSERT_TRUE(a.start());
  world.settle();
  EXPECT_EQ(a.phase(), Phase::leading);
  EXPECT_TRUE(a.held());
  EXPECT_EQ(a.holder(), "a");
  EXPECT_EQ(a.leadership().token(), 1U);
  EXPECT_EQ(read_events(a), (Texts{"elected 1"}));
}

TEST(Election, RenewsForAsLongAsItIsDriven) {
  ElectionWorld world;
  Election a = world.leader("a");
  world.pass(hours(1) / 4);
  EXPECT_TRUE(a.held());
  EXPECT_EQ(read_events(a), (Texts{"elected 1"}));
}

TEST(Election, US01_HeldTurnsFalseAtTheDeadlineThoughNobodyPolls) {
  ElectionWorld world;
  const Election a = world.leader("a");
  const Leadership term = a.leadership();
  const Instant deadline = term.deadline();
  EXPECT_EQ(deadline, world.clock.now() + std::chrono::milliseconds(14850) - Duration(1));
  world.clock.advance_to(deadline - Duration(1));
  EXPECT_TRUE(term.held());
  EXPECT_EQ(term.remaining(), Duration(1));
  world.clock.advance(Duration(1));
  EXPECT_FALSE(term.held());
  EXPECT_FALSE(a.held());
  EXPECT_EQ(term.remaining(), Duration::zero());
}

TEST(Election, CK01_SteppingTheWallClockByAnHourChangesNothing) {
  ElectionWorld world;
  Election a = world.leader("a");
  const Instant deadline = a.leadership().deadline();
  for (const auto step : {hours(1), hours(-2), hours(1)}) {
    world.clock.advance_wall(step);
    world.settle();
    EXPECT_EQ(a.leadership().deadline(), deadline);
    EXPECT_TRUE(a.held());
  }
  world.pass(seconds(60));
  EXPECT_TRUE(a.held());
}

TEST(Election, CK02_AJumpOfTenTtlIsALossBeforeAnythingElse) {
  ElectionWorld world;
  Election a = world.leader("a");
  const Leadership before = a.leadership();
  world.clock.advance(seconds(150));
  EXPECT_FALSE(before.held());
  EXPECT_FALSE(a.held());
  world.settle();
  EXPECT_FALSE(before.held());
  const Texts events = read_events(a);
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(events[0], "elected 1");
  EXPECT_EQ(events[1], "lost 1 expired");
  world.pass(seconds(1));
  EXPECT_TRUE(a.held()) << "it stands again instead of dying";
  EXPECT_GT(a.leadership().token(), 1U);
}

TEST(Election, SB01_ALapseFollowedByReacquiringIsANewTermWithItsOwnLostAndElected) {
  ElectionWorld world;
  Election a = world.leader("a");
  world.clock.advance(seconds(20));
  world.settle();
  world.pass(seconds(1));
  const Texts events = read_events(a);
  ASSERT_EQ(events.front(), "elected 1");
  ASSERT_EQ(events[1], "lost 1 expired");
  EXPECT_EQ(events.back(), "elected " + std::to_string(a.leadership().token()));
  EXPECT_GT(a.leadership().token(), 1U);
}

TEST(Election, SB09_ThreeCandidatesOfOneIdAreThreeCandidates) {
  ElectionWorld world;
  std::vector<Election> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(world.candidate("same"));
    ASSERT_TRUE(all.back().start());
  }
  const auto leading = [&] {
    return std::count_if(all.begin(), all.end(), [](const Election& e) { return e.held(); });
  };
  world.settle();
  EXPECT_EQ(leading(), 1);
  for (int i = 0; i < 50; ++i) {
    world.pass(seconds(1));
    ASSERT_EQ(leading(), 1);
  }
}

TEST(Election, YieldLetsAnotherLead) {
  ElectionWorld world;
  Election a = world.leader("a");
  Election b = world.candidate("b");
  ASSERT_TRUE(b.start());
  world.settle();
  EXPECT_EQ(b.holder(), "a");
  a.yield();
  world.settle();
  EXPECT_FALSE(a.held());
  EXPECT_TRUE(b.held());
  EXPECT_EQ(a.holder(), "b");
  world.pass(seconds(60));
  EXPECT_TRUE(b.held());
  const Texts events = read_events(a);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1], "lost 1 yielded");
  EXPECT_EQ(events[2], "holder b " + std::to_string(b.leadership().token()));
}

TEST(Election, YieldWithoutRivalsStandsAgainAfterThePause) {
  ElectionWorld world;
  Election a = world.leader("a");
  a.yield();
  world.settle();
  EXPECT_EQ(a.phase(), Phase::pausing);
  world.pass(milliseconds(480));
  EXPECT_FALSE(a.held());
  world.pass(milliseconds(40));
  EXPECT_TRUE(a.held());
  EXPECT_GT(a.leadership().token(), 1U);
}

TEST(Election, RH04_StopHandsOverAtOnce) {
  ElectionWorld world;
  Election a = world.leader("a");
  Election b = world.candidate("b");
  ASSERT_TRUE(b.start());
  world.settle();
  EXPECT_TRUE(a.stop(seconds(1)));
  world.settle();
  EXPECT_EQ(a.phase(), Phase::stopped);
  EXPECT_TRUE(b.held()) << "no ttl has passed";
  EXPECT_EQ(read_events(a).back(), "stopped");
}

TEST(Election, TakeoverAndDeletionAreLossesWithTheirReasons) {
  ElectionWorld world;
  Election a = world.leader("a");
  world.backend->force_delete("billing");
  world.settle();
  const std::string second = std::to_string(a.leadership().token());
  const Record other = world.backend->force_takeover("billing", "c", "session-c", seconds(15));
  world.settle();
  EXPECT_FALSE(a.held());
  EXPECT_EQ(a.holder(), "c");
  const Texts events = read_events(a);
  EXPECT_EQ(events[0], "elected 1");
  EXPECT_EQ(events[1], "lost 1 deleted");
  EXPECT_EQ(events[events.size() - 2], "lost " + second + " taken_over");
  EXPECT_EQ(events.back(), "holder c " + std::to_string(other.token));
}

TEST(Election, RH01_TheRecordIsReleasedOnlyAfterTheWorkHasEnded) {
  ElectionWorld world;
  Election a = world.candidate("a");
  TermEnd end;
  Leadership term;
  ASSERT_TRUE(a.on_term([&](Leadership leadership, TermEnd ending) {
    term = leadership;
    end = std::move(ending);
  }));
  ASSERT_TRUE(a.start());
  world.settle();
  Election b = world.candidate("b");
  ASSERT_TRUE(b.start());
  world.settle();
  ASSERT_TRUE(term.held());
  a.yield();
  world.settle();
  EXPECT_FALSE(term.held());
  EXPECT_TRUE(term.stop_token().stop_requested());
  EXPECT_EQ(a.phase(), Phase::stepping_down);
  world.pass(milliseconds(2900));
  EXPECT_FALSE(b.held()) << "the work goes on";
  end.done();
  world.settle();
  EXPECT_TRUE(b.held());
}

TEST(Election, RH01_WorkThatDoesNotEndLeavesTheRecordToItsTtl) {
  ElectionWorld world;
  Election a = world.candidate("a");
  TermEnd end;
  ASSERT_TRUE(a.on_term([&](Leadership, TermEnd ending) { end = std::move(ending); }));
  ASSERT_TRUE(a.start());
  world.settle();
  Election b = world.candidate("b");
  ASSERT_TRUE(b.start());
  world.settle();
  a.yield();
  world.pass(seconds(14));
  EXPECT_FALSE(b.held());
  world.pass(seconds(5));
  EXPECT_TRUE(b.held());
  EXPECT_EQ(a.phase(), Phase::stepping_down) << "it does not stand again while its work goes on";
  end.done();
  world.settle();
  EXPECT_EQ(a.phase(), Phase::pausing);
  world.pass(seconds(1));
  EXPECT_EQ(a.phase(), Phase::standing);
}

TEST(Election, WorkThatEndsByItselfYields) {
  ElectionWorld world;
  Election a = world.candidate("a");
  int terms = 0;
  ASSERT_TRUE(a.on_term([&](Leadership, TermEnd) { ++terms; }));
  ASSERT_TRUE(a.start());
  world.settle();
  EXPECT_EQ(terms, 1);
  EXPECT_EQ(a.phase(), Phase::pausing);
  world.pass(milliseconds(600));
  EXPECT_EQ(terms, 2);
}

TEST(Election, AStopTokenIsAskedAGraceBeforeTheDeadline) {
  ElectionWorld world;
  const Election a = world.leader("a");
  const Leadership term = a.leadership();
  // One jump over every renewal, to just before and then to the step-down.
  world.clock.advance_to(term.deadline() - seconds(3) - Duration(1));
  EXPECT_FALSE(term.stop_token().stop_requested());
  world.clock.advance(Duration(1));
  world.settle();
  EXPECT_TRUE(term.stop_token().stop_requested());
  EXPECT_TRUE(term.held()) << "the grace is there to end in";
}

TEST(Election, LK01_StopReturnsBeforeStartAndTwice) {
  ElectionWorld world;
  Election a = world.candidate("a");
  EXPECT_TRUE(a.stop(seconds(1)));
  EXPECT_TRUE(a.stop(seconds(1)));
  EXPECT_EQ(a.phase(), Phase::stopped);
  const auto started = a.start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Errc::closed);
  EXPECT_EQ(read_events(a), (Texts{"stopped"}));
}

TEST(Election, EV06_EventsNobodyReadsDelayNothingAndStayBounded) {
  ElectionWorld world;
  ElectionOptions options;
  options.event_capacity = 8;
  Election a = world.leader("a", options);
  for (int i = 0; i < 100; ++i) {
    a.yield();
    world.pass(seconds(1));
    ASSERT_TRUE(a.held());
  }
  std::uint64_t folded = 0;
  std::size_t count = 0;
  bool leading = false;
  while (auto event = a.next_event()) {
    folded += event->folded_terms;
    ++count;
    if (std::holds_alternative<Elected>(event->body)) {
      EXPECT_FALSE(std::exchange(leading, true));
    } else if (std::holds_alternative<Lost>(event->body)) {
      EXPECT_TRUE(std::exchange(leading, false));
    }
  }
  EXPECT_LE(count, 8U);
  EXPECT_GT(folded, 90U);
  EXPECT_TRUE(leading) << "the latest state got through";
}

TEST(Election, LK03_AForkedChildDoesNotLeadAndReturnsAtOnce) {
  ElectionWorld world;
  Election a = world.leader("a");
  const Leadership term = a.leadership();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool right = !term.held() && !a.held() && !a.leadership().held() && a.holder().empty() &&
                       !a.stop(seconds(60));
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(term.held());
}

TEST(Election, BadOptionsAreRefusedByName) {
  ElectionWorld world;
  const auto refusal = [&](ElectionOptions options) {
    const auto made = Election::create(*world.runtime, world.store, std::move(options));
    return made ? std::string("accepted") : made.error().message;
  };
  EXPECT_NE(refusal({.name = ""}).find("name"), std::string::npos);
  EXPECT_NE(refusal({.name = "x", .ttl = seconds(0)}).find("ttl is 0s"), std::string::npos);
  EXPECT_NE(refusal({.name = "x", .grace = seconds(9)}).find("renew_interval + 2 x request_limit"),
            std::string::npos);
  const auto none = Election::create(*world.runtime, nullptr, {.name = "x"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
}

TEST(Election, LeadIsRefusedInCallerDrivenMode) {
  ElectionWorld world;
  Election a = world.candidate("a");
  const auto led = a.lead([](const Leadership&) {});
  ASSERT_FALSE(led);
  EXPECT_EQ(led.error().code, Errc::unsupported);
}

TEST(Election, GiveUpAfterEndsTheElectionVisibly) {
  ElectionWorld world;
  const Election a = world.leader("a");
  ElectionOptions once;
  once.give_up_after = Duration::zero();
  Election b = world.candidate("b", once);
  ASSERT_TRUE(b.start());
  world.settle();
  EXPECT_EQ(b.phase(), Phase::stopped);
  EXPECT_EQ(read_events(b).back(), "stopped timed_out");
  EXPECT_TRUE(b.stop(seconds(1))) << "there is nothing left to end";
}

TEST(Election, AMovedElectionGoesOn) {
  ElectionWorld world;
  Election a = world.leader("a");
  Election moved = std::move(a);
  EXPECT_TRUE(moved.held());
  moved = world.candidate("b");
  EXPECT_FALSE(moved.held());
  EXPECT_TRUE(world.backend->elections().empty() || !world.backend->elections()[0].holder)
      << "what was assigned over was stopped in order";
}

}  // namespace
}  // namespace tenure::test
