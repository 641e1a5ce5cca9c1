// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "election_world.h"
#include "tests/support/eventually.h"

#include <poll.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <thread>

/// The side of an election that users' threads are on: a real loop thread, a manual clock.
namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct ThreadedWorld {
  explicit ThreadedWorld(RuntimeOptions options = {}) {
    options.clock = &clock;
    options.seed = 11;
    runtime = *Runtime::create(options);
    store = make_memory_store(backend, *runtime);
  }

  [[nodiscard]] Election candidate(std::string id, ElectionOptions options = {}) const {
    options.name = options.name.empty() ? "billing" : options.name;
    options.id = std::move(id);
    auto made = Election::create(*runtime, store, std::move(options));
    EXPECT_TRUE(made);
    return std::move(*made);
  }

  testkit::ManualClock clock;
  std::shared_ptr<MemoryBackend> backend = MemoryBackend::make(clock);
  std::unique_ptr<Runtime> runtime;
  std::shared_ptr<LeaseStore> store;
};

TEST(ElectionUse, LeadRunsTheWorkOnTheCallingThreadOncePerTerm) {
  ThreadedWorld world;
  Election a = world.candidate("a", {.yield_pause = Duration::zero()});
  std::vector<std::uint64_t> tokens;
  const auto here = std::this_thread::get_id();
  const auto led = a.lead([&](const Leadership& term) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_TRUE(term.held());
    tokens.push_back(term.token());
    if (tokens.size() == 3) {
      EXPECT_TRUE(a.stop(seconds(1))) << "from inside the work it returns at once";
    }
  });
  EXPECT_TRUE(led) << led.error().message;
  ASSERT_EQ(tokens.size(), 3U);
  EXPECT_LT(tokens[0], tokens[1]);
  EXPECT_LT(tokens[1], tokens[2]);
  EXPECT_EQ(a.phase(), Phase::stopped);
}

TEST(ElectionUse, AnExceptionOfTheWorkEndsTheElectionInOrderAndComesBackAsAValue) {
  ThreadedWorld world;
  Election a = world.candidate("a");
  const auto led = a.lead([](const Leadership&) { throw std::runtime_error("disk on fire"); });
  ASSERT_FALSE(led);
  EXPECT_EQ(led.error().code, Errc::closed);
  EXPECT_NE(led.error().message.find("disk on fire"), std::string::npos);
  EXPECT_EQ(a.phase(), Phase::stopped);
  EXPECT_TRUE(eventually([&] { return !world.backend->elections()[0].holder; }));
}

TEST(ElectionUse, WorkIsToldToStopAndStopWaitsForIt) {
  ThreadedWorld world;
  Election a = world.candidate("a");
  std::atomic<bool> working{false};
  std::atomic<bool> ended{false};
  std::thread leader([&] {
    (void)a.lead([&](const Leadership& term) {
      working = true;
      EXPECT_TRUE(eventually([&] { return term.stop_token().stop_requested(); }));
      EXPECT_FALSE(term.held());
      ended = true;
    });
  });
  ASSERT_TRUE(eventually([&] { return working.load(); }));
  EXPECT_TRUE(a.stop(seconds(60)));
  EXPECT_TRUE(ended);
  leader.join();
}

TEST(ElectionUse, StopReturnsAtItsLimitAndSaysWhatHadNotEnded) {
  ThreadedWorld world;
  Election a = world.candidate("a");
  std::atomic<bool> release{false};
  std::atomic<bool> working{false};
  std::thread leader([&] {
    (void)a.lead([&](const Leadership&) {
      working = true;
      EXPECT_TRUE(eventually([&] { return release.load(); }));
    });
  });
  ASSERT_TRUE(eventually([&] { return working.load(); }));
  Result<void> stopped;
  std::thread stopper([&] { stopped = a.stop(seconds(2)); });
  EXPECT_TRUE(eventually([&] { return a.phase() == Phase::stepping_down; }));
  world.clock.advance(seconds(2));
  stopper.join();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Errc::timed_out);
  EXPECT_NE(stopped.error().message.find("work"), std::string::npos);
  EXPECT_TRUE(world.backend->elections()[0].holder) << "not released while the work goes on";
  release = true;
  leader.join();
}

TEST(ElectionUse, LK02b_BlockedCallbacksAndFiveHundredWaitersCostTheHolderNothing) {
  ThreadedWorld world({.worker_threads = 1, .callback_threads = 2});
  std::atomic<bool> release{false};
  std::atomic<int> stuck{0};
  std::vector<Election> blockers;
  for (int i = 0; i < 3; ++i) {
    blockers.push_back(world.candidate("x", {.name = "blocker" + std::to_string(i)}));
    ASSERT_TRUE(blockers.back().on_term([&](const Leadership&, TermEnd) {
      ++stuck;
      EXPECT_TRUE(eventually([&] { return release.load(); }));
    }));
    ASSERT_TRUE(blockers.back().start());
  }
  ASSERT_TRUE(eventually([&] { return stuck == 2; }));
  Election holder = world.candidate("holder");
  ASSERT_TRUE(holder.start());
  ASSERT_TRUE(eventually([&] { return holder.held(); }));
  const std::uint64_t token = holder.leadership().token();
  std::vector<Election> waiters;
  for (int i = 0; i < 500; ++i) {
    waiters.push_back(world.candidate("w"));
    ASSERT_TRUE(waiters.back().start());
  }
  const Instant end = world.clock.now() + seconds(60);
  while (world.clock.now() < end) {
    const Instant deadline = holder.leadership().deadline();
    world.clock.advance(seconds(2));
    // The renewals of this step have to come through; the clock waits for them.
    ASSERT_TRUE(eventually([&] {
      return holder.held() && holder.leadership().deadline() > world.clock.now() + seconds(10);
    })) << "deadline was "
        << deadline.time_since_epoch().count();
  }
  EXPECT_EQ(holder.leadership().token(), token);
  EXPECT_EQ(read_events(holder), (std::vector<std::string>{"elected " + std::to_string(token)}))
      << "not lost, and without trouble";
  release = true;
}

TEST(ElectionUse, WaitEventWaitsForTheNextEventAndGivesUpAtItsLimit) {
  ThreadedWorld world;
  Election a = world.candidate("a");
  std::optional<Event> got;
  std::atomic<bool> returned{false};
  std::thread reader([&] {
    got = a.wait_event(seconds(5));
    returned = true;
  });
  ASSERT_TRUE(eventually([&] { return world.clock.next_timer() != kNever; }));
  world.clock.advance(seconds(5));
  reader.join();
  EXPECT_FALSE(got);
  ASSERT_TRUE(a.start());
  got = a.wait_event(kForever);
  ASSERT_TRUE(got);
  EXPECT_TRUE(std::holds_alternative<Elected>(got->body));
  std::thread stopper([&] { EXPECT_TRUE(a.stop(seconds(5))); });
  got = a.wait_event(kForever);
  ASSERT_TRUE(got && std::holds_alternative<Lost>(got->body));
  do {
    got = a.wait_event(kForever);
    ASSERT_TRUE(got);
  } while (!std::holds_alternative<Stopped>(got->body));
  EXPECT_FALSE(a.wait_event(kForever)) << "the stream has ended; nothing to wait for";
  stopper.join();
}

TEST(ElectionUse, TheEventDescriptorIsReadableWhileThereAreUnreadEvents) {
  ElectionWorld world;
  Election a = world.candidate("a");
  const auto readable = [&] {
    pollfd fd{a.event_fd(), POLLIN, 0};
    return ::poll(&fd, 1, 0) == 1;
  };
  EXPECT_FALSE(readable());
  ASSERT_TRUE(a.start());
  world.settle();
  EXPECT_TRUE(readable());
  EXPECT_EQ(read_events(a).size(), 1U);
  EXPECT_FALSE(readable());
}

TEST(ElectionUse, LK01_StopFromAStopCallbackReturns) {
  ThreadedWorld world;
  Election a = world.candidate("a");
  std::atomic<bool> returned{false};
  std::thread leader([&] {
    (void)a.lead([&](const Leadership& term) {
      const std::stop_callback on_stop(term.stop_token(), [&] {
        (void)a.stop(seconds(1));
        returned = true;
      });
      a.yield();
      EXPECT_TRUE(eventually([&] {
        world.clock.advance(milliseconds(10));
        return returned.load();
      }));
    });
  });
  leader.join();
  EXPECT_TRUE(returned);
}

TEST(ElectionUse, AThousandWaitingElectionsUseAFixedNumberOfThreads) {
  ThreadedWorld world;
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                         std::filesystem::directory_iterator());
  };
  Election holder = world.candidate("holder");
  ASSERT_TRUE(holder.start());
  ASSERT_TRUE(eventually([&] { return holder.held(); }));
  std::vector<Election> waiters;
  for (int i = 0; i < 1000; ++i) {
    waiters.push_back(world.candidate("w" + std::to_string(i)));
    ASSERT_TRUE(waiters.back().start());
  }
  ASSERT_TRUE(eventually([&] {
    return std::all_of(waiters.begin(), waiters.end(),
                       [](const Election& e) { return e.holder() == "holder"; });
  }));
  // This one, the loop, two workers and four callback threads at most.
  EXPECT_LE(threads(), 8);
}

}  // namespace
}  // namespace tenure::test
