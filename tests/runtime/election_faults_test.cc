// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "election_world.h"
#include "tests/support/eventually.h"

#include <tenure/testkit/fault_store.h>

/// Elections on stores that misbehave: what users of other tools met in the field.
namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testkit::fail_with;
using testkit::fault;
using testkit::Fault;
using testkit::FaultStore;
using testkit::lose_answer;
using testkit::Verb;

using Texts = std::vector<std::string>;

/// Two candidates on one backend; the first one's store does what the test says.
struct FaultyWorld : ElectionWorld {
  explicit FaultyWorld(MemoryOptions options = {})
      : ElectionWorld(options), faulty(std::make_shared<FaultStore>(store, *runtime)) {}

  [[nodiscard]] Election on_faulty(ElectionOptions options = {}) const {
    options.name = "billing";
    options.id = "a";
    return std::move(*Election::create(*runtime, faulty, std::move(options)));
  }

  /// Time passes until `b` leads; at each step at most one of the two does.
  void until_b_leads(Election& a, const Election& b, Duration limit) {
    const Instant end = clock.now() + limit;
    while (!b.held() && clock.now() < end) {
      clock.advance(milliseconds(5));
      // Whatever order things are looked at in: a must have lost before b can have won.
      settle();
      ASSERT_FALSE(a.held() && b.held());
    }
    ASSERT_TRUE(b.held());
    ASSERT_FALSE(a.held());
  }

  std::shared_ptr<FaultStore> faulty;
};

/// The store refuses or fails in some way; the reason of the loss says in which.
class LossReasons : public ::testing::TestWithParam<std::pair<Errc, const char*>> {};

TEST_P(LossReasons, SB01_OB03_FailedRenewalsEndInOneLossWithItsReasonBeforeTheRivalLeads) {
  FaultyWorld world;
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.settle();
  Election b = world.candidate("b");
  ASSERT_TRUE(b.start());
  world.settle();
  ASSERT_TRUE(a.held());
  world.faulty->always(fail_with({GetParam().first, "as the test says"}));
  world.faulty->cut_watches({GetParam().first, "as the test says"});
  world.until_b_leads(a, b, seconds(30));
  Texts losses;
  for (const std::string& event : read_events(a)) {
    if (event.starts_with("lost")) losses.push_back(event);
  }
  EXPECT_EQ(losses, (Texts{std::string("lost 1 ") + GetParam().second}));
}

INSTANTIATE_TEST_SUITE_P(EveryClass, LossReasons,
                         ::testing::Values(std::pair{Errc::unavailable, "expired"},
                                           std::pair{Errc::outcome_unknown, "expired"},
                                           std::pair{Errc::conflict, "expired"},
                                           std::pair{Errc::unauthenticated, "unauthorized"},
                                           std::pair{Errc::permission_denied, "unauthorized"},
                                           std::pair{Errc::corrupt, "fatal"},
                                           std::pair{Errc::unsupported, "fatal"}),
                         [](const auto& one) { return std::string(to_string(one.param.first)); });

TEST(ElectionFaults, LK01_ADestructorReturnsThoughItsClockStandsStillAndItsStoreIsSilent) {
  FaultyWorld world;
  const Stopwatch watch;
  {
    Election a = world.on_faulty();
    ASSERT_TRUE(a.start());
    world.settle();
    world.faulty->always(fault(Fault::Kind::black_hole));
  }
  EXPECT_LT(watch.elapsed(), seconds(10));
}

TEST(ElectionFaults, SB02_WithoutASinglePacketItStopsByItsDeadline) {
  FaultyWorld world;
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.settle();
  Election b = world.candidate("b");
  ASSERT_TRUE(b.start());
  world.pass(seconds(20));
  const Instant deadline = a.leadership().deadline();
  world.faulty->always(fault(Fault::Kind::black_hole));
  world.faulty->hold_watches(true);
  const std::size_t before = world.faulty->requests(Verb::renew);
  while (a.held()) world.pass(milliseconds(20));
  EXPECT_LE(world.clock.now(), deadline + milliseconds(20));
  EXPECT_GE(world.faulty->requests(Verb::renew) - before, 2U) << "ST04: it asked again";
  EXPECT_FALSE(b.held());
  world.until_b_leads(a, b, seconds(2));
}

TEST(ElectionFaults, CK03_TheDeadlineIsCountedFromTheRequestNotFromItsAnswer) {
  FaultyWorld world;
  Election a = world.on_faulty({.ttl = seconds(10)});
  ASSERT_TRUE(a.start());
  world.settle();
  // The next renewal is carried out, but its answer comes as late as its limit allows.
  world.faulty->next(Verb::renew, fault(Fault::Kind::hold_answer));
  while (world.faulty->held_answers() == 0) world.pass(milliseconds(20));
  const Instant sent = world.clock.now();
  world.pass(milliseconds(1900));
  world.faulty->deliver_answers();
  world.settle();
  EXPECT_LE(a.leadership().deadline(), sent + milliseconds(9900));
  EXPECT_GT(a.leadership().deadline(), sent + milliseconds(9800));
}

TEST(ElectionFaults, RT02_OneRenewalThatIsNeverAnsweredDoesNotLoseTheTerm) {
  FaultyWorld world;
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.settle();
  for (int i = 0; i < 5; ++i) {
    world.faulty->next(Verb::renew, fault(Fault::Kind::black_hole));
    world.pass(seconds(15));
  }
  EXPECT_TRUE(a.held());
  EXPECT_EQ(a.leadership().token(), 1U);
}

TEST(ElectionFaults, RT02b_ErrorsBetweenRenewalsDoNotEndThem) {
  FaultyWorld world;
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.settle();
  for (int i = 0; i < 30; ++i) {
    world.faulty->next(Verb::renew, fail_with({Errc::unavailable, "cut"}), 2);
    world.faulty->cut_watches({Errc::unavailable, "cut"});
    world.pass(seconds(5));
    ASSERT_TRUE(a.held());
  }
  EXPECT_EQ(a.leadership().token(), 1U);
}

TEST(ElectionFaults, ST07_AnAcquireWhoseAnswerWasLostIsFoundOutAndCountsOnlyFromARenewal) {
  FaultyWorld world;
  Election a = world.on_faulty();
  world.faulty->next(Verb::acquire, lose_answer());
  ASSERT_TRUE(a.start());
  world.settle();
  EXPECT_FALSE(a.held());
  EXPECT_TRUE(world.backend->elections().at(0).holder) << "it did take effect";
  world.pass(seconds(1));
  EXPECT_TRUE(a.held());
  EXPECT_EQ(world.faulty->requests(Verb::renew), 1U);
  EXPECT_GT(a.leadership().deadline(), ElectionWorld().clock.now() + milliseconds(14850))
      << "counted from the renewal, not from the lost acquire";
}

TEST(ElectionFaults, ST07_StopAfterALostAnswerLeavesNoRecordBehind) {
  FaultyWorld world;
  Election a = world.on_faulty();
  world.faulty->always(Verb::acquire, lose_answer());
  ASSERT_TRUE(a.start());
  world.settle();
  ASSERT_TRUE(world.backend->elections().at(0).holder);
  EXPECT_TRUE(a.stop(seconds(1)));
  EXPECT_FALSE(world.backend->elections().at(0).holder);
}

TEST(ElectionFaults, RH02_AFailedReleaseIsNotForgotten) {
  FaultyWorld world;
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.settle();
  Election b = world.candidate("b");
  ASSERT_TRUE(b.start());
  world.settle();
  world.faulty->next(Verb::release, fail_with({Errc::unavailable, "down"}), 3);
  a.yield();
  world.pass(seconds(2));
  EXPECT_TRUE(b.held()) << "a release got through long before the ttl";
  EXPECT_EQ(world.faulty->requests(Verb::release), 4U);
}

TEST(ElectionFaults, SB06_ARepeatedReleaseDoesNotTouchTheNextIncarnation) {
  FaultyWorld world;
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.settle();
  Election b = world.candidate("b");
  ASSERT_TRUE(b.start());
  world.settle();
  // Neither the answer nor the watch tells that it is gone, so it asks again.
  world.faulty->hold_watches(true);
  world.faulty->next(Verb::release, lose_answer());
  a.yield();
  world.pass(seconds(3));
  EXPECT_TRUE(b.held());
  EXPECT_GE(world.faulty->requests(Verb::release), 2U);
  world.pass(seconds(20));
  EXPECT_TRUE(b.held());
}

TEST(ElectionFaults, SB03_AnOwnRecordThatOutlivedItsTermIsNotANewTerm) {
  // Observers judge here, so the store itself keeps showing the old record.
  MemoryOptions observers;
  observers.expiry = ExpiryBy::observers;
  FaultyWorld world(observers);
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.settle();
  world.faulty->always(fault(Fault::Kind::black_hole));
  world.faulty->hold_watches(true);
  while (a.held()) world.pass(milliseconds(20));
  world.faulty->clear();
  world.faulty->hold_watches(false);
  world.pass(seconds(30));
  EXPECT_TRUE(a.held());
  EXPECT_GT(a.leadership().token(), 1U);
}

TEST(ElectionFaults, CN05_AStoreThatIsDownAtTheStartIsNoErrorOfTheStart) {
  FaultyWorld world;
  world.faulty->always(fail_with({Errc::unavailable, "no route"}));
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.pass(seconds(30));
  EXPECT_EQ(a.phase(), Phase::standing);
  world.faulty->clear();
  world.pass(seconds(6));
  EXPECT_TRUE(a.held());
  const Texts events = read_events(a);
  EXPECT_EQ(std::count(events.begin(), events.end(), "elected 1"), 1);
}

TEST(ElectionFaults, EV01_RenewalsKeepTheirPaceWhoeverReadsTheEvents) {
  FaultyWorld world;
  Election a = world.on_faulty();
  ASSERT_TRUE(a.start());
  world.settle();
  world.pass(seconds(150));
  EXPECT_NEAR(static_cast<double>(world.faulty->requests(Verb::renew)), 30.0, 1.0);
}

TEST(ElectionFaultsDeathTest, SB11_WorkThatOutlastsItsTermEndsTheProcessWhereThatWasAskedFor) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(
      {
        ElectionWorld world;
        Election a = world.candidate("a", {.on_overrun = Overrun::abort});
        TermEnd unfinished;
        if (!a.on_term([&](const Leadership&, TermEnd end) { unfinished = std::move(end); }))
          return;
        if (!a.start()) return;
        world.settle();
        if (!a.held()) return;
        world.clock.advance(seconds(16));
        world.settle();
      },
      "the work goes on although its term is over");
}

}  // namespace
}  // namespace tenure::test
