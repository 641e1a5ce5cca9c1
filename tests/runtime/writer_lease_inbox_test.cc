// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Producers leave work for whoever is inside the machine, and go: nothing of it may be overlooked.
#include "tests/support/eventually.h"
#include "tests/support/threads.h"
#include "writer_lease_make.h"

#include <tenure/testkit/manual_clock.h>
#include <tenure/writer_lease.h>

#include <atomic>
#include <cstddef>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// A worker that has plenty to do does not look each time it goes: then whoever goes in must.
TEST(WriterLeaseInbox, WhatAThreadHasSubmittedItsNextCallSees) {
  constexpr std::size_t kPieces = 10'000;
  std::vector<std::atomic<bool>> ran(3 * kPieces);
  WriterLease lease = make({.retry_interval = Duration::zero()});
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(lease.try_work("again" + std::to_string(i), [] {
      return WorkResult{WorkEffect::extend, true};
    }));
  }
  std::atomic<int> unseen{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t * kPieces; i < (t + 1) * kPieces; ++i) {
        const std::string key = std::to_string(i);
        (void)lease.try_work(key, [&has_run = ran[i]] {
          has_run = true;
          return extend();
        });
        if (!lease.remove(key) && !ran[i]) ++unseen;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unseen, 0);
}

TEST(WriterLeaseInbox, WorkLeftWhileTheOnlyAwakeWorkerRunsWakesAnother) {
  for (int round = 0; round < 5; ++round) {
    std::latch runs(1);
    std::latch let_go(1);
    std::atomic<bool> ran{false};
    WriterLease lease = make({.workers = 2});
    ASSERT_TRUE(eventually(all_others_sleep));
    ASSERT_TRUE(lease.try_work("long", [&] {
      runs.count_down();
      let_go.wait();
      return extend();
    }));
    runs.wait();
    ASSERT_TRUE(lease.try_work("short", [&] {
      ran = true;
      return extend();
    }));
    // Nothing is called here, since whoever goes in looks.
    const bool in_time = eventually([&] { return ran.load(); }, seconds(5));
    let_go.count_down();
    ASSERT_TRUE(in_time);
  }
}

// A worker with plenty to do leaves the inbox alone; but not while another could be given what is
// left there.
TEST(WriterLeaseInbox, WorkIsNotOverlookedBecauseMuchIsPending) {
  constexpr int kPending = 100;
  std::atomic<int> tried{0};
  WriterLease lease = make({.retry_interval = std::chrono::hours(1), .workers = 2});
  ASSERT_TRUE(lease.try_work("lead", extend));
  for (int i = 0; i < kPending; ++i) {
    ASSERT_TRUE(lease.try_work("retry " + std::to_string(i), [&tried] {
      ++tried;
      return WorkResult{WorkEffect::none, true};
    }));
  }
  ASSERT_TRUE(eventually([&] { return tried == kPending; }));
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE(eventually(all_others_sleep));
    // Work may still be about to leave a latch when the round is over.
    struct Round {
      std::atomic<bool> warm{false};
      std::latch first{1};
      std::latch submitted{1};
      std::latch second{1};
      std::latch let_go{1};
      std::atomic<bool> ran{false};
    };
    const auto at = std::make_shared<Round>();
    ASSERT_TRUE(lease.try_work("warm", [at] {
      at->warm = true;
      return extend();
    }));
    while (!at->warm) {
    }
    // The worker is at one or another place of its way back to sleep.
    for (int i = 0; i < (round % 20) * 150; ++i)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    ASSERT_TRUE(lease.try_work("first", [at] {
      at->first.count_down();
      at->submitted.wait();
      return extend();
    }));
    at->first.wait();
    ASSERT_TRUE(lease.try_work("long", [at] {
      at->second.count_down();
      at->let_go.wait();
      return extend();
    }));
    at->submitted.count_down();
    at->second.wait();
    ASSERT_TRUE(lease.try_work("short", [at] {
      at->ran = true;
      return extend();
    }));
    const bool in_time = eventually([&] { return at->ran.load(); }, seconds(5));
    at->let_go.count_down();
    ASSERT_TRUE(in_time) << "round " << round;
  }
}

// A clock that stops one thread each time it asks for the time, which a follower's thread does
// while it is inside the machine.
class StoppingClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override {
    if (std::this_thread::get_id() == stopped_.load()) {
      arrived_.release();
      go_.acquire();
    }
    return inner_.now();
  }
  [[nodiscard]] WallTime wall_now() const noexcept override { return inner_.wall_now(); }
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override { return inner_.make_timer(); }
  [[nodiscard]] bool timer_is_armed() const { return inner_.next_timer() != kNever; }

  void stop_this_thread() { stopped_ = std::this_thread::get_id(); }
  void wait_until_inside() { arrived_.acquire(); }
  void let_go() {
    stopped_ = std::thread::id();
    go_.release();
  }

 private:
  testkit::ManualClock inner_;
  std::atomic<std::thread::id> stopped_{};
  mutable std::counting_semaphore<> arrived_{0};
  mutable std::counting_semaphore<> go_{0};
};

class WriterLeaseInside : public testing::Test {
 protected:
  WriterLeaseInside() {
    EXPECT_TRUE(lease_.try_work("first", [] { return WorkResult{WorkEffect::release}; }));
    EXPECT_EQ(lease_.wait(), Result<bool>(false));
  }
  // A thread that goes in and stays there.
  std::thread inside() {
    std::thread thread([this] {
      clock_.stop_this_thread();
      lease_.extend("nothing");
      left_ = true;
    });
    clock_.wait_until_inside();
    return thread;
  }

  StoppingClock clock_;
  std::atomic<bool> left_{false};
  WriterLease lease_ = make({.clock = &clock_});
};

TEST_F(WriterLeaseInside, WhoLeavesLooksOnceMoreForWhatWasLeftMeanwhile) {
  std::thread thread = inside();
  ASSERT_TRUE(lease_.try_work("k", extend));
  EXPECT_FALSE(clock_.timer_is_armed());
  clock_.let_go();
  // Nothing is called here, since whoever goes in looks.
  EXPECT_TRUE(eventually([&] { return clock_.timer_is_armed(); }, seconds(5)));
  thread.join();
}

// Each of them waits for its own work and calls nothing else: what is overlooked stays so.
void submit_one_after_another(WriterLease& lease, int thread, int count, std::atomic<int>& lost) {
  std::atomic<int> ran{0};
  for (int i = 1; i <= count && lost == 0; ++i) {
    (void)lease.try_work("k" + std::to_string(thread), [&ran] {
      ++ran;
      return extend();
    });
    for (int spins = 0; ran < i && spins < 20'000; ++spins) std::this_thread::yield();
    if (!eventually([&] { return ran >= i || lost > 0; }, seconds(5))) ++lost;
  }
}

TEST(WriterLeaseInbox, NothingIsOverlookedByWorkers) {
  WriterLease lease = make({});
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] { submit_one_after_another(lease, t, 2000, lost); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0);
}

TEST(WriterLeaseInbox, NothingIsOverlookedByACallerThatSleepsOnTheDescriptor) {
  WriterLease lease = make({.workers = 0});
  std::atomic<int> lost{0};
  std::atomic<bool> over{false};
  std::thread driver([&] {
    while (!over) {
      if (readable(lease.fd(), 10'000)) lease.poll();
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] { submit_one_after_another(lease, t, 2000, lost); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0);
  over = true;
  ASSERT_TRUE(lease.try_work("last", extend));
  driver.join();
}

}  // namespace
}  // namespace tenure::test
