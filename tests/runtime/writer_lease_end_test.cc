// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// stop() and the destructor from every place where the caller's code runs: LK-01.
#include "tests/support/eventually.h"
#include "writer_lease_make.h"

#include <tenure/testkit/manual_clock.h>
#include <tenure/writer_lease.h>

#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

namespace tenure {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::eventually;
using test::extend;
using test::make;
using test::Stopwatch;

// A capture whose end calls `then`.
template <class Then>
std::shared_ptr<int> at_the_end(Then then) {
  return std::shared_ptr<int>(new int(0), [then](const int* number) {
    delete number;
    then();
  });
}

// A lease of two workers, one of which runs a piece until it is let go; stop() is then called from
// somewhere on the other worker.
class WriterLeaseEnd : public testing::Test {
 protected:
  WriterLeaseEnd() {
    EXPECT_TRUE(lease_.try_work("slow", [this] {
      runs_.count_down();
      let_go_.wait();
      ended_ = true;
      return extend();
    }));
    runs_.wait();
  }
  ~WriterLeaseEnd() override { EXPECT_TRUE(lease_.stop(seconds(20))); }

  void stop_inside() {
    stopping_ = true;
    EXPECT_TRUE(lease_.stop(seconds(20)));
    waited_ = ended_.load();
    stopped_ = true;
  }
  void expect_that_it_waits() {
    ASSERT_TRUE(eventually([&] { return stopping_.load(); }));
    EXPECT_FALSE(eventually([&] { return stopped_.load(); }, milliseconds(20)));
    let_go_.count_down();
    ASSERT_TRUE(eventually([&] { return stopped_.load(); }));
    EXPECT_TRUE(waited_);
  }

  std::latch runs_{1};
  std::latch let_go_{1};
  std::atomic<bool> ended_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> waited_{false};
  WriterLease lease_ = make({.workers = 2});
};

TEST_F(WriterLeaseEnd, LK01_StopFromInsideWorkWaitsForOtherWork) {
  ASSERT_TRUE(lease_.try_work("a", [this] {
    stop_inside();
    return extend();
  }));
  expect_that_it_waits();
}

TEST_F(WriterLeaseEnd, LK01_StopFromAnObserverWaitsForWorkThatRuns) {
  lease_.on_state_change([this](WriterState) { stop_inside(); });
  ASSERT_TRUE(lease_.try_work("a", extend));
  expect_that_it_waits();
}

TEST_F(WriterLeaseEnd, LK01_StopFromTheEndOfACaptureWaitsForWorkThatRuns) {
  auto held = at_the_end([this] { stop_inside(); });
  ASSERT_TRUE(lease_.try_work("a", [this, held = std::move(held)] {
    lease_.remove("a");  // so that it is destroyed when its result is known
    return WorkResult{WorkEffect::extend, true};
  }));
  expect_that_it_waits();
}

TEST(WriterLeaseEndings, LK01_StopFromTwoPiecesOnOneThreadWaitsForNeither) {
  WriterLease lease = make({.workers = 0});
  bool stopped = false;
  ASSERT_TRUE(lease.try_work("outer", [&] {
    EXPECT_TRUE(lease.try_work("inner", [&] {
      stopped = lease.stop(seconds(1)).has_value() && lease.stop(seconds(1)).has_value();
      return extend();
    }));
    EXPECT_EQ(lease.poll(), 1U);
    EXPECT_TRUE(lease.stop(seconds(1)));
    return extend();
  }));
  const Stopwatch watch;
  EXPECT_EQ(lease.poll(), 1U);
  EXPECT_TRUE(stopped);
  EXPECT_LT(watch.elapsed(), milliseconds(500));
}

// The stop of an inner piece must not excuse, for good, the outer one on the same thread.
TEST(WriterLeaseEndings, LK01_AStopInsideAStopCountsAPieceOnce) {
  WriterLease lease = make({.workers = 2});
  std::latch runs(1);
  std::latch let_go(1);
  std::atomic<bool> ended{false};
  std::atomic<bool> too_early{false};
  std::atomic<bool> done{false};
  ASSERT_TRUE(lease.try_work("slow", [&] {
    runs.count_down();
    let_go.wait();
    ended = true;
    return extend();
  }));
  runs.wait();
  ASSERT_TRUE(lease.try_work("a", [&] {
    // What waits is dropped inside stop(), and the end of its capture stops once more.
    auto held = at_the_end([&] {
      (void)lease.stop(seconds(20));
      too_early = !ended;
    });
    EXPECT_TRUE(lease.try_work("waits", [held = std::move(held)] { return extend(); }));
    EXPECT_TRUE(lease.stop(seconds(20)));
    done = true;
    return extend();
  }));
  EXPECT_FALSE(eventually([&] { return done.load(); }, milliseconds(20)));
  let_go.count_down();
  EXPECT_TRUE(eventually([&] { return done.load(); }));
  EXPECT_FALSE(too_early);
  EXPECT_TRUE(lease.stop(seconds(20)));
}

TEST(WriterLeaseEndings, LK01_StopWaitsForAnObserverThatACallerRuns) {
  WriterLease lease = make({.workers = 0});
  std::latch told(1);
  std::latch let_go(1);
  std::atomic<bool> ended{false};
  lease.on_state_change([&](WriterState) {
    told.count_down();
    let_go.wait();
    ended = true;
  });
  ASSERT_TRUE(lease.try_work("a", extend));
  std::thread driver([&] { lease.poll(); });
  told.wait();
  const auto early = lease.stop(milliseconds(20));
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Errc::timed_out);
  std::thread stopper([&] {
    EXPECT_TRUE(lease.stop(seconds(20)));
    EXPECT_TRUE(ended);
  });
  let_go.count_down();
  stopper.join();
  driver.join();
}

TEST(WriterLeaseEndings, TheHandleMayBeDestroyedInsideWorkThatACallerRuns) {
  auto lease = std::make_unique<WriterLease>(make({.workers = 0}));
  WriterLease* const raw = lease.get();
  ASSERT_TRUE(lease->try_work("a", [&] {
    lease.reset();
    return extend();
  }));
  EXPECT_EQ(raw->poll(), 1U);
  EXPECT_EQ(lease, nullptr);
}

TEST(WriterLeaseEndings, TheHandleMayBeDestroyedInsideWorkThatWaitRuns) {
  for (const bool limited : {false, true}) {
    auto lease = std::make_unique<WriterLease>(make({.workers = 0}));
    WriterLease* const raw = lease.get();
    ASSERT_TRUE(lease->try_work("a", [&] {
      lease.reset();
      return extend();
    }));
    const auto waited = limited ? raw->wait_until(seconds(20)) : raw->wait();
    EXPECT_EQ(waited, Result<bool>(true)) << "its result was the first";
  }
}

TEST(WriterLeaseEndings, TheHandleMayBeDestroyedByAnObserverOrTheEndOfACapture) {
  for (const bool by_observer : {false, true}) {
    auto lease = std::make_unique<WriterLease>(make({.workers = 0}));
    WriterLease* const raw = lease.get();
    if (by_observer) lease->on_state_change([&](WriterState) { lease.reset(); });
    auto held = by_observer ? nullptr : at_the_end([&] { lease.reset(); });
    ASSERT_TRUE(lease->try_work("a", [held = std::move(held)] { return extend(); }));
    EXPECT_EQ(raw->poll(), 1U);
    EXPECT_EQ(lease, nullptr);
  }
}

// Work that the destructor waits for may go on using the handle.
TEST(WriterLeaseEndings, WorkMayUseTheHandleWhileTheDestructorWaitsForIt) {
  std::latch runs(1);
  std::atomic<bool> refused{false};
  {
    WriterLease lease = make({.stop_limit = seconds(20)});
    ASSERT_TRUE(lease.try_work("a", [&] {
      runs.count_down();
      while (!refused) refused = !lease.try_work("b", extend);
      return extend();
    }));
    runs.wait();
  }
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace tenure
