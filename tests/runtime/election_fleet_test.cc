// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "election_world.h"

#include <tenure/testkit/fault_store.h>

#include <numeric>

/// Many candidates of one election, each with a network of its own that can fail.
namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testkit::fail_with;
using testkit::FaultStore;
using testkit::Verb;

using Texts = std::vector<std::string>;

struct Fleet : ElectionWorld {
  explicit Fleet(std::size_t size, MemoryOptions options = {}) : ElectionWorld(options) {
    for (std::size_t i = 0; i < size; ++i) {
      networks.push_back(std::make_shared<FaultStore>(store, *runtime));
      members.push_back(std::move(*Election::create(
          *runtime, networks.back(), {.name = "billing", .id = "n" + std::to_string(i)})));
      EXPECT_TRUE(members.back().start());
      // So that the first one leads, and with a queue the others stand in their order.
      settle();
    }
  }

  [[nodiscard]] std::size_t acquires() const {
    return std::accumulate(
        networks.begin(), networks.end(), std::size_t{0},
        [](std::size_t sum, const auto& each) { return sum + each->requests(Verb::acquire); });
  }
  [[nodiscard]] std::vector<std::size_t> leaders() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].held()) found.push_back(i);
    }
    return found;
  }

  std::vector<std::shared_ptr<FaultStore>> networks;
  std::vector<Election> members;
};

using Indexes = std::vector<std::size_t>;

TEST(ElectionFleet, EV03_AllConvergeToOneHolderAlsoWhoMissedTheHandOver) {
  Fleet fleet(3);
  ASSERT_EQ(fleet.leaders(), (Indexes{0}));
  for (Election& each : fleet.members) {
    EXPECT_EQ(each.holder(), "n0");
    (void)read_events(each);
  }
  // n2 sees and reaches nothing while n0 hands over to n1.
  const Error cut{Errc::unavailable, "cut"};
  fleet.networks[2]->always(fail_with(cut));
  fleet.networks[2]->cut_watches(cut);
  fleet.members[0].yield();
  fleet.settle();
  ASSERT_EQ(fleet.leaders(), (Indexes{1}));
  fleet.pass(seconds(5));
  EXPECT_EQ(fleet.members[2].holder(), "n0") << "as last seen";
  // Its tries to watch are at most retry_max apart; only the watch can tell it.
  fleet.networks[2]->clear(Verb::watch);
  fleet.pass(seconds(5));
  for (const Election& each : fleet.members) EXPECT_EQ(each.holder(), "n1");
  const Texts events = read_events(fleet.members[2]);
  const std::string now = "holder n1 " + std::to_string(fleet.members[1].leadership().token());
  EXPECT_EQ(std::count(events.begin(), events.end(), now), 1);
}

TEST(ElectionFleet, EV03_AHolderThatWentWhileTheWatchWasCutIsToldAsGone) {
  Fleet fleet(3);
  // Nobody else may take it: all but the observer have ended.
  const Error cut{Errc::unavailable, "cut"};
  Election& observer = fleet.members[2];
  fleet.networks[2]->always(Verb::acquire, fail_with(cut));
  fleet.networks[2]->always(Verb::watch, fail_with(cut));
  fleet.networks[2]->cut_watches(cut);
  (void)read_events(observer);
  ASSERT_TRUE(fleet.members[1].stop(seconds(1)));
  ASSERT_TRUE(fleet.members[0].stop(seconds(1)));
  fleet.pass(seconds(5));
  EXPECT_EQ(observer.holder(), "n0") << "as last seen";
  fleet.networks[2]->clear(Verb::watch);
  fleet.pass(seconds(5));
  EXPECT_EQ(observer.holder(), "") << "the state after a gap says that it is free";
  const Texts events = read_events(observer);
  EXPECT_EQ(std::count(events.begin(), events.end(), "holder  0"), 1);
  fleet.networks[2]->clear();
  fleet.pass(seconds(6));
  EXPECT_TRUE(observer.held());
  EXPECT_EQ(observer.holder(), "n2");
}

TEST(ElectionFleet, RT01_AHandOverInAQueueIsOneRequestHoweverManyWait) {
  MemoryOptions queue;
  queue.has_queue = true;
  Fleet fleet(50, queue);
  ASSERT_EQ(fleet.leaders(), (Indexes{0}));
  const std::size_t before = fleet.acquires();
  fleet.members[0].yield();
  fleet.settle();
  EXPECT_EQ(fleet.leaders(), (Indexes{1}));
  EXPECT_EQ(fleet.acquires() - before, 1U) << "only the next in line woke up";
}

TEST(ElectionFleet, RT01_WithoutAQueueAVacancyCostsEachWaiterOneRequestAndNoMore) {
  constexpr std::size_t kSize = 50;
  Fleet fleet(kSize);
  ASSERT_EQ(fleet.leaders(), (Indexes{0}));
  const std::size_t before = fleet.acquires();
  fleet.members[0].yield();
  fleet.settle();
  ASSERT_EQ(fleet.leaders().size(), 1U);
  EXPECT_NE(fleet.leaders()[0], 0U);
  fleet.pass(seconds(10));
  EXPECT_LE(fleet.acquires() - before, kSize) << "nobody who lost the race asks again at once";
  int won = 0;
  for (Election& each : fleet.members) {
    for (const std::string& event : read_events(each)) won += event.starts_with("elected") ? 1 : 0;
  }
  EXPECT_EQ(won, 2) << "the first one, and one of those who waited";
}

TEST(ElectionFleet, ST03_ThePoolDoesNotShrinkHoweverOftenEachHasLost) {
  constexpr std::size_t kSize = 4;
  Fleet fleet(kSize);
  std::vector<int> lost(kSize);
  // Whoever leads loses the term by a fault of its own network, which heals; until all have twice.
  for (int round = 0; round < 200; ++round) {
    ASSERT_EQ(fleet.leaders().size(), 1U);
    const std::size_t leader = fleet.leaders()[0];
    if (++lost[leader] == 2 && *std::min_element(lost.begin(), lost.end()) == 2) break;
    fleet.networks[leader]->always(fail_with({Errc::unavailable, "down"}));
    fleet.networks[leader]->cut_watches({Errc::unavailable, "down"});
    fleet.pass(seconds(16));
    ASSERT_FALSE(fleet.members[leader].held());
    fleet.networks[leader]->clear();
    fleet.pass(seconds(6));
  }
  EXPECT_GE(*std::min_element(lost.begin(), lost.end()), 2) << "each has led and lost, again";
  EXPECT_EQ(fleet.leaders().size(), 1U);
  for (const Election& each : fleet.members) {
    EXPECT_TRUE(each.phase() == Phase::leading || each.phase() == Phase::standing);
  }
}

}  // namespace
}  // namespace tenure::test
