// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/eventually.h"
#include "writer_lease_make.h"

#include <tenure/testkit/manual_clock.h>
#include <tenure/writer_lease.h>

#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenure {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::eventually;
using test::make;
using test::Stopwatch;

// Follows; the lease runs for a minute.
void follow_for_a_minute(WriterLease& lease) {
  ASSERT_TRUE(lease.try_work("first", [] { return WorkResult{WorkEffect::release}; }));
  ASSERT_EQ(lease.wait(), Result<bool>(false));
  while (lease.status().tick < 6) {
    ASSERT_TRUE(lease.try_work("seen", [] { return WorkResult{}; }));
    lease.extend("seen");
  }
}

TEST(WriterLeaseThreads, AWorkerRunsWorkAndWaitTellsWhoLeads) {
  WriterLease lease = make({});
  ASSERT_TRUE(lease.try_work("a", [] { return WorkResult{WorkEffect::extend}; }));
  EXPECT_EQ(lease.wait(), Result<bool>(true));
  EXPECT_EQ(lease.state(), WriterState::leading);
  EXPECT_EQ(lease.fd(), -1);
  EXPECT_EQ(lease.poll(), 0U);
}

TEST(WriterLeaseThreads, WaitUntilGivesUpByTheLeasesClock) {
  testkit::ManualClock clock;
  std::atomic<bool> returned{false};
  WriterLease lease = make({.clock = &clock});
  std::thread waiter([&] {
    const auto waited = lease.wait_until(seconds(30));
    EXPECT_FALSE(waited);
    if (!waited) {
      EXPECT_EQ(waited.error().code, Errc::timed_out);
    }
    returned = true;
  });
  ASSERT_TRUE(eventually([&] { return clock.next_timer() != kNever; }));
  EXPECT_FALSE(returned);
  clock.advance(seconds(30));
  waiter.join();
  EXPECT_TRUE(returned);
}

TEST(WriterLeaseThreads, StopWakesThoseThatWait) {
  WriterLease lease = make({});
  std::thread waiter([&] {
    const auto waited = lease.wait();
    EXPECT_FALSE(waited);
    if (!waited) {
      EXPECT_EQ(waited.error().code, Errc::closed);
    }
  });
  EXPECT_TRUE(lease.stop(seconds(20)));
  waiter.join();
}

TEST(WriterLeaseThreads, AFollowersWorkerSleepsUntilTheClockSaysSo) {
  testkit::ManualClock clock;
  WriterLease lease = make({.clock = &clock});
  follow_for_a_minute(lease);
  std::atomic<bool> ran{false};
  ASSERT_TRUE(lease.try_work("a", [&] {
    ran = true;
    return WorkResult{WorkEffect::extend};
  }));
  clock.advance(seconds(59));
  EXPECT_FALSE(eventually([&] { return ran.load(); }, milliseconds(20)));
  clock.advance(seconds(1));
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
}

// LK-01, and what the well-known original gets wrong: there a follower sleeps on.
TEST(WriterLeaseThreads, LK01_StopDuringAFollowersMinuteOfWaitingTakesUnderFiftyMilliseconds) {
  WriterLease lease = make({.lease = seconds(60), .workers = 4});
  follow_for_a_minute(lease);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(lease.try_work("k" + std::to_string(i), [&] {
      ++ran;
      return WorkResult{};
    }));
  }
  const Stopwatch watch;
  EXPECT_TRUE(lease.stop(seconds(20)));
  EXPECT_LT(watch.elapsed(), milliseconds(50));
  EXPECT_EQ(ran, 0);
  lease.expire();
  EXPECT_FALSE(eventually([&] { return ran != 0; }, milliseconds(20)));
  EXPECT_EQ(lease.counters().abandoned, 100U);
}

TEST(WriterLeaseThreads, ExpireWakesAFollowerAtOnce) {
  WriterLease lease = make({.lease = seconds(60)});
  follow_for_a_minute(lease);
  std::atomic<bool> ran{false};
  ASSERT_TRUE(lease.try_work("a", [&] {
    ran = true;
    return WorkResult{WorkEffect::extend};
  }));
  EXPECT_FALSE(ran);
  lease.expire();
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
}

TEST(WriterLeaseThreads, ExtendAndRemoveCutAFollowersWaitShort) {
  testkit::ManualClock clock;
  WriterLease lease = make({.clock = &clock});
  follow_for_a_minute(lease);
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease.try_work("a", [memory] { return WorkResult{}; }));
  ASSERT_TRUE(lease.try_work("b", [memory] { return WorkResult{}; }));
  EXPECT_TRUE(lease.extend("a"));
  EXPECT_TRUE(lease.remove("b"));
  EXPECT_EQ(memory.use_count(), 1);
  clock.advance(seconds(200));
  EXPECT_FALSE(eventually([&] { return lease.counters().runs > 1; }, milliseconds(20)));
}

TEST(WriterLeaseThreads, SeveralWorkersRunDifferentKeysInParallel) {
  std::latch all(3);
  WriterLease lease = make({.workers = 3});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(lease.try_work("k" + std::to_string(i), [&] {
      all.arrive_and_wait();  // comes through only if all three run at once
      return WorkResult{WorkEffect::extend};
    }));
  }
  EXPECT_TRUE(eventually([&] { return lease.counters().done == 3; }));
}

TEST(WriterLeaseThreads, WorkSubmittedWhileAWorkerIsBusyIsRunByAnother) {
  std::latch release(1);
  std::atomic<bool> ran{false};
  WriterLease lease = make({.workers = 2});
  ASSERT_TRUE(lease.try_work("long", [&] {
    release.wait();
    return WorkResult{WorkEffect::extend};
  }));
  ASSERT_TRUE(eventually([&] { return lease.counters().runs == 1; }));
  for (int i = 0; i < 200; ++i) {
    ran = false;
    ASSERT_TRUE(lease.try_work("short", [&] {
      ran = true;
      return WorkResult{WorkEffect::extend};
    }));
    ASSERT_TRUE(eventually([&] { return ran.load(); }));
  }
  release.count_down();
}

TEST(WriterLeaseThreads, OnlyOnePieceProbesWhenAFollowersLeaseHasExpired) {
  testkit::ManualClock clock;
  WriterLease lease = make({.workers = 4, .clock = &clock});
  follow_for_a_minute(lease);
  std::latch release(1);
  std::atomic<int> started{0};
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(lease.try_work("k" + std::to_string(i), [&] {
      if (++started == 1) release.wait();
      return WorkResult{WorkEffect::extend};
    }));
  }
  clock.advance(seconds(61));
  ASSERT_TRUE(eventually([&] { return started == 1; }));
  EXPECT_FALSE(eventually([&] { return started > 1; }, milliseconds(20)));
  release.count_down();
  EXPECT_TRUE(eventually([&] { return started == 8; }));
  EXPECT_EQ(lease.counters().probes, 1U);
}

TEST(WriterLeaseThreads, WorkThatThrowsLeavesItsWorkerAlive) {
  std::atomic<int> reported{0};
  WriterLease lease = make({.retry_interval = milliseconds(1),
                            .on_exception = [&](std::string_view, std::exception_ptr) {
                              ++reported;
                              throw std::runtime_error("again");
                            }});
  ASSERT_TRUE(lease.try_work(
      "bad", limit_retries(0, []() -> WorkResult { throw std::runtime_error("broken"); })));
  ASSERT_TRUE(eventually([&] { return lease.size() == 0; }));
  EXPECT_EQ(reported, 1);
  EXPECT_EQ(lease.counters().threw, 2U);
  ASSERT_TRUE(lease.try_work("good", [] { return WorkResult{WorkEffect::extend}; }));
  EXPECT_TRUE(eventually([&] { return lease.state() == WriterState::leading; }));
}

TEST(WriterLeaseThreads, LK01_StopReturnsWithinItsLimitAlthoughWorkNeverEnds) {
  testkit::ManualClock clock;
  std::latch release(1);
  std::latch running(1);
  WriterLease lease = make({.clock = &clock, .stop_limit = milliseconds(1)});
  ASSERT_TRUE(lease.try_work("endless", [&] {
    running.count_down();
    release.wait();
    return WorkResult{WorkEffect::extend, true};
  }));
  running.wait();
  std::thread stopper([&] {
    const auto stopped = lease.stop(seconds(5));
    EXPECT_FALSE(stopped);
    if (!stopped) {
      EXPECT_EQ(stopped.error().code, Errc::timed_out);
    }
  });
  ASSERT_TRUE(eventually([&] { return clock.next_timer() != kNever; }));
  clock.advance(seconds(5));
  stopper.join();
  release.count_down();
  EXPECT_TRUE(lease.stop(seconds(20))) << "a second call finds the end";
  EXPECT_EQ(lease.counters().abandoned, 1U) << "its retry";
}

TEST(WriterLeaseThreads, LK01_DestructorGivesUpAThreadWhoseWorkNeverEnds) {
  std::latch release(1);
  std::latch running(1);
  auto ended = std::make_shared<std::atomic<bool>>(false);
  {
    WriterLease lease = make({.stop_limit = milliseconds(1)});
    ASSERT_TRUE(lease.try_work("endless", [&, ended] {
      running.count_down();
      release.wait();
      *ended = true;
      return WorkResult{WorkEffect::extend};
    }));
    running.wait();
  }
  EXPECT_FALSE(*ended);
  release.count_down();
  EXPECT_TRUE(eventually([&] { return ended->load(); }));
  EXPECT_TRUE(eventually([&] { return ended.use_count() == 1; })) << "the thread ends too";
}

TEST(WriterLeaseThreads, LK01_StopFromInsideWorkOfSeveralWorkersAtOnceReturns) {
  std::latch all(3);
  std::atomic<int> stopped{0};
  WriterLease lease = make({.workers = 3});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(lease.try_work("k" + std::to_string(i), [&] {
      all.arrive_and_wait();
      if (lease.stop(seconds(20))) ++stopped;
      return WorkResult{WorkEffect::extend, true};
    }));
  }
  EXPECT_TRUE(eventually([&] { return stopped == 3; }));
  EXPECT_TRUE(lease.stop(seconds(20)));
  EXPECT_EQ(lease.counters().runs, 3U);
}

TEST(WriterLeaseThreads, LK01_StopMayBeCalledTwiceAndAtOnceFromManyThreads) {
  WriterLease lease = make({.workers = 2});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_TRUE(lease.stop(seconds(20))); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(lease.stop(Duration::zero()));
}

TEST(WriterLeaseThreads, TheHandleMayBeDestroyedFromInsideItsOwnWork) {
  auto lease = std::make_unique<WriterLease>(make({}));
  std::atomic<bool> ended{false};
  std::latch submitted(1);
  ASSERT_TRUE(lease->try_work("a", [&] {
    submitted.wait();  // no call may be under way beside the destruction
    lease.reset();
    ended = true;
    return WorkResult{WorkEffect::extend};
  }));
  submitted.count_down();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
}

// The destructor of a capture may call back: it must not run under a lock.
TEST(WriterLeaseThreads, CapturesAreDestroyedOutsideAnyLock) {
  WriterLease lease = make({});
  const auto calling_back = [&lease](const char* key) {
    return std::shared_ptr<int>(new int(1), [&lease, key](const int* number) {
      delete number;
      lease.remove(key);
      (void)lease.size();
    });
  };
  const auto submit = [&](const std::string& key, WorkResult result) {
    return lease.try_work(key, [held = calling_back("other"), result] { return result; });
  };
  ASSERT_TRUE(submit("done", {WorkEffect::release}));
  ASSERT_TRUE(eventually([&] { return lease.state() == WriterState::following; }));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(submit("replaced", {WorkEffect::release}));
    ASSERT_TRUE(submit("extended", {}));
    lease.extend("extended");
  }
  ASSERT_TRUE(submit("stopped", {}));
  EXPECT_TRUE(lease.stop(seconds(20)));
}

}  // namespace
}  // namespace tenure
