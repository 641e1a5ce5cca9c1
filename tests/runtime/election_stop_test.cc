// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "election_world.h"
#include "tests/support/eventually.h"

#include <tenure/testkit/fault_store.h>

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>
#include <tuple>

/// The end of an election: from every state, on every kind of store, from every kind of thread.
namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testkit::fail_with;
using testkit::fault;
using testkit::Fault;
using testkit::FaultStore;

enum class StoreIs { up, down, silent };

const char* text_of(StoreIs condition) {
  if (condition == StoreIs::up) return "up";
  return condition == StoreIs::down ? "down" : "silent";
}

/// A real loop, a manual clock, and a store that can be taken away.
struct StopWorld {
  [[nodiscard]] Election candidate(ElectionOptions options = {}) const {
    options.name = "billing";
    options.id = "a";
    return std::move(*Election::create(*runtime, faulty, std::move(options)));
  }

  // Not on the loop itself.
  void put(StoreIs condition) const {
    if (condition == StoreIs::up) return;
    std::atomic<bool> done{false};
    runtime->post([&] {
      faulty->always(condition == StoreIs::down ? fail_with({Errc::unavailable, "down"})
                                                : fault(Fault::Kind::black_hole));
      done = true;
    });
    ASSERT_TRUE(eventually([&] { return done.load(); }));
  }

  /// The clock moves until `returned`: within the 2 s of a stop, and one step more.
  void expect_within_two_seconds(const std::atomic<bool>& returned) {
    const Instant asked = clock.now();
    while (!returned && clock.now() < asked + seconds(4)) {
      (void)eventually([&] { return returned.load(); }, milliseconds(2));
      if (!returned) clock.advance(milliseconds(100));
    }
    EXPECT_TRUE(eventually([&] { return returned.load(); }));
    EXPECT_LE(clock.now(), asked + milliseconds(2500));
  }

  testkit::ManualClock clock;
  std::shared_ptr<MemoryBackend> backend = MemoryBackend::make(clock);
  std::unique_ptr<Runtime> runtime = *Runtime::create({.clock = &clock});
  std::shared_ptr<FaultStore> faulty =
      std::make_shared<FaultStore>(make_memory_store(backend, *runtime), *runtime);
};

/// Stopped from a plain thread.
class StopMatrix : public ::testing::TestWithParam<std::tuple<Phase, StoreIs>> {};

TEST_P(StopMatrix, LK01_StopReturnsWithinItsLimit) {
  const auto [phase, condition] = GetParam();
  StopWorld world;
  if (phase == Phase::standing) {
    world.backend->force_takeover("billing", "x", "session-x", std::chrono::hours(10));
  }
  Election a = world.candidate();
  TermEnd end;
  std::atomic<bool> working{false};
  if (phase == Phase::stepping_down) {
    ASSERT_TRUE(a.on_term([&](const Leadership&, TermEnd ending) {
      end = std::move(ending);
      working = true;
    }));
  }
  if (phase != Phase::idle) {
    ASSERT_TRUE(a.start());
    if (phase == Phase::standing) {
      ASSERT_TRUE(eventually([&] { return a.holder() == "x"; }));
    } else {
      ASSERT_TRUE(eventually([&] { return a.held(); }));
    }
    if (phase == Phase::stepping_down) {
      ASSERT_TRUE(eventually([&] { return working.load(); }));
    }
    if (phase == Phase::stepping_down || phase == Phase::pausing) {
      a.yield();
      ASSERT_TRUE(eventually([&, want = phase] { return a.phase() == want; }));
    }
    if (phase == Phase::stopped) {
      ASSERT_TRUE(a.stop(seconds(1)));
    }
  }
  world.put(condition);
  std::atomic<bool> returned{false};
  std::thread stopper([&] {
    (void)a.stop(seconds(2));
    returned = true;
  });
  world.expect_within_two_seconds(returned);
  stopper.join();
  EXPECT_EQ(a.phase(), Phase::stopped);
  EXPECT_FALSE(a.held());
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Phase, StoreIs>>& one) {
  const auto [phase, condition] = one.param;
  return std::string(to_string(phase)) + "_" + text_of(condition);
}

INSTANTIATE_TEST_SUITE_P(
    StateByStore, StopMatrix,
    ::testing::Combine(::testing::Values(Phase::idle, Phase::standing, Phase::leading,
                                         Phase::stepping_down, Phase::pausing, Phase::stopped),
                       ::testing::Values(StoreIs::up, StoreIs::down, StoreIs::silent)),
    name_of);

/// Stopped from the library's own calls of users' code.
class StopInACallback : public ::testing::TestWithParam<StoreIs> {};

std::string name_of_store(const ::testing::TestParamInfo<StoreIs>& one) {
  return text_of(one.param);
}

INSTANTIATE_TEST_SUITE_P(EveryStore, StopInACallback,
                         ::testing::Values(StoreIs::up, StoreIs::down, StoreIs::silent),
                         name_of_store);

TEST_P(StopInACallback, LK01_StopInTheBeginningOfATermReturnsAtOnceAndTheEndFollows) {
  StopWorld world;
  Election a = world.candidate();
  std::atomic<bool> returned{false};
  ASSERT_TRUE(a.on_term([&](const Leadership& term, TermEnd) {
    world.put(GetParam());
    EXPECT_TRUE(a.stop(seconds(2))) << "it cannot wait for the work that it is in";
    EXPECT_TRUE(eventually([&] { return !term.held(); }));
    returned = true;
  }));
  ASSERT_TRUE(a.start());
  // No time passes meanwhile.
  ASSERT_TRUE(eventually([&] { return returned.load(); }));
  std::atomic<bool> stopped{false};
  std::thread watcher([&] { stopped = eventually([&] { return a.phase() == Phase::stopped; }); });
  world.expect_within_two_seconds(stopped);
  watcher.join();
  const std::vector<std::string> events = read_events(a);
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events[0], "elected 1");
  EXPECT_EQ(events[1], "lost 1 stopped");
  EXPECT_TRUE(events.back().starts_with("stopped"));
}

TEST_P(StopInACallback, LK01_StopInAStopCallbackReturnsWithinItsLimitThoughTheWorkGoesOn) {
  StopWorld world;
  Election a = world.candidate();
  std::atomic<bool> working{false};
  std::atomic<bool> returned{false};
  TermEnd unfinished;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
  ASSERT_TRUE(a.on_term([&](const Leadership& term, TermEnd end) {
    unfinished = std::move(end);
    on_stop.emplace(term.stop_token(), [&] {
      const auto stopped = a.stop(seconds(2));
      EXPECT_FALSE(stopped) << "the work has not ended";
      returned = true;
    });
    working = true;
  }));
  ASSERT_TRUE(a.start());
  ASSERT_TRUE(eventually([&] { return working.load(); }));
  world.put(GetParam());
  a.yield();
  world.expect_within_two_seconds(returned);
  EXPECT_EQ(a.phase(), Phase::stopped);
  EXPECT_FALSE(a.held());
}

TEST(ElectionStop, EV06_StopDoesNotWaitForAConsumerThatNeverReads) {
  StopWorld world;
  Election a = world.candidate({.yield_pause = Duration::zero(), .event_capacity = 8});
  ASSERT_GE(a.event_fd(), 0);
  ASSERT_TRUE(a.start());
  std::uint64_t token = 0;
  const auto elected_again = [&] { return a.held() && a.leadership().token() > token; };
  for (int term = 0; term < 50; ++term) {
    ASSERT_TRUE(eventually(elected_again)) << term;
    token = a.leadership().token();
    a.yield();
  }
  ASSERT_TRUE(eventually(elected_again));
  const std::string last = std::to_string(a.leadership().token());
  // The clock stands still: it needs no time at all.
  std::atomic<bool> returned{false};
  std::thread stopper([&] { returned = a.stop(seconds(1)).has_value(); });
  EXPECT_TRUE(eventually([&] { return returned.load(); }));
  stopper.join();
  EXPECT_EQ(a.phase(), Phase::stopped);
  EXPECT_FALSE(world.backend->elections()[0].holder) << "released";
  const std::vector<std::string> events = read_events(a);
  ASSERT_GE(events.size(), 3U);
  EXPECT_LE(events.size(), 8U);
  EXPECT_EQ(events.back(), "stopped") << "the newest state is readable afterwards";
  EXPECT_NE(std::find(events.begin(), events.end(), "elected " + last), events.end());
  EXPECT_NE(std::find(events.begin(), events.end(), "lost " + last + " stopped"), events.end());
}

}  // namespace
}  // namespace tenure::test
