// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/timer_queue.h"

#include <tenure/testkit/manual_clock.h>

#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <optional>
#include <poll.h>
#include <vector>

namespace tenure::runtime {
namespace {

using std::chrono::seconds;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

class TimerQueueTest : public testing::Test {
 protected:
  [[nodiscard]] bool readable() const {
    pollfd entry{queue_.fd(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  TimerQueue::Key note(Instant when, int name) {
    return queue_.add(when, [this, name] { ran_.push_back(name); });
  }
  std::size_t run(std::size_t most = kAll) {
    return queue_.run_due(most, [] { return true; });
  }
  [[nodiscard]] Instant in(Duration wait) const { return saturating_add(clock_.now(), wait); }

  testkit::ManualClock clock_;
  TimerQueue queue_{clock_, clock_.make_timer()};
  std::vector<int> ran_;
};

TEST_F(TimerQueueTest, RunsWhatIsDueInOrderOfInstantAndThenOfAge) {
  (void)note(in(seconds(2)), 3);
  (void)note(in(seconds(1)), 1);
  (void)note(in(seconds(1)), 2);
  (void)note(in(seconds(3)), 4);
  EXPECT_FALSE(readable());
  clock_.advance(seconds(2));
  EXPECT_TRUE(readable());
  EXPECT_EQ(run(), 3U);
  EXPECT_EQ(ran_, (std::vector{1, 2, 3}));
  EXPECT_FALSE(readable());
  clock_.advance(seconds(1));
  EXPECT_TRUE(readable());
  EXPECT_EQ(run(), 1U);
}

TEST_F(TimerQueueTest, EarlierTimerMovesTheAlarmAndALaterOneDoesNot) {
  (void)note(in(seconds(5)), 5);
  EXPECT_EQ(clock_.next_timer(), in(seconds(5)));
  (void)note(in(seconds(9)), 9);
  EXPECT_EQ(clock_.next_timer(), in(seconds(5)));
  (void)note(in(seconds(1)), 1);
  EXPECT_EQ(clock_.next_timer(), in(seconds(1)));
}

TEST_F(TimerQueueTest, NeverIsNeverAndThePastIsAtOnce) {
  (void)note(kNever, 1);
  EXPECT_EQ(clock_.next_timer(), kNever);
  (void)note(kLongAgo, 2);
  EXPECT_TRUE(readable());
  (void)run();
  EXPECT_EQ(ran_, std::vector{2});
  clock_.advance(kForever);
  EXPECT_EQ(run(), 0U);
}

TEST_F(TimerQueueTest, RemovedTimerDoesNotRunAndItsTaskIsDestroyedAtOnce) {
  const auto owned = std::make_shared<int>(1);
  const auto key = queue_.add(in(seconds(1)), [owned] { FAIL(); });
  EXPECT_EQ(owned.use_count(), 2);
  queue_.remove(key);
  EXPECT_EQ(owned.use_count(), 1);
  clock_.advance(seconds(1));
  EXPECT_EQ(run(), 0U);
  EXPECT_FALSE(readable());
  queue_.remove(key);
}

TEST_F(TimerQueueTest, TaskMayRemoveAnotherThatIsDueInTheSameRound) {
  TimerQueue::Key second;
  (void)queue_.add(in(seconds(1)), [this, &second] { queue_.remove(second); });
  second = note(in(seconds(1)), 2);
  clock_.advance(seconds(1));
  EXPECT_EQ(run(), 1U);
  EXPECT_TRUE(ran_.empty());
}

TEST_F(TimerQueueTest, TaskThatAddsItselfForThePastDoesNotKeepOthersWaiting) {
  std::function<void()> again = [&] {
    ran_.push_back(0);
    (void)queue_.add(kLongAgo, again);
  };
  (void)queue_.add(in(seconds(1)), again);
  (void)note(in(seconds(1)), 7);
  clock_.advance(seconds(1));
  EXPECT_EQ(run(), 2U);
  EXPECT_EQ(ran_, (std::vector{0, 7}));
  EXPECT_TRUE(readable());
  EXPECT_EQ(run(), 1U);
}

TEST_F(TimerQueueTest, RoundIsBoundedAndTheRestKeepsTheDescriptorReadable) {
  for (int i = 0; i < 5; ++i) (void)note(in(seconds(1)), i);
  clock_.advance(seconds(1));
  EXPECT_EQ(run(2), 2U);
  EXPECT_TRUE(readable());
  EXPECT_EQ(run(0), 0U);
  EXPECT_TRUE(readable());
  EXPECT_EQ(run(), 3U);
  EXPECT_FALSE(readable());
  EXPECT_EQ(ran_, (std::vector{0, 1, 2, 3, 4}));
}

TEST_F(TimerQueueTest, RoundStopsAsSoonAsItIsTold) {
  bool go_on = true;
  (void)queue_.add(in(seconds(1)), [&go_on] { go_on = false; });
  (void)note(in(seconds(1)), 2);
  clock_.advance(seconds(1));
  EXPECT_EQ(queue_.run_due(kAll, [&go_on] { return go_on; }), 1U);
  EXPECT_TRUE(ran_.empty());
}

TEST_F(TimerQueueTest, TaskIsDestroyedRightAfterItRan) {
  const auto owned = std::make_shared<int>(1);
  (void)queue_.add(in(seconds(1)), [owned] {});
  clock_.advance(seconds(1));
  (void)run();
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(TimerQueueTest, AfterTheEndTasksAreDestroyedUnrunAlsoNewOnes) {
  const auto owned = std::make_shared<int>(1);
  (void)queue_.add(in(seconds(1)), [owned] { FAIL(); });
  queue_.end();
  EXPECT_EQ(owned.use_count(), 1);
  (void)queue_.add(in(seconds(1)), [owned] { FAIL(); });
  EXPECT_EQ(owned.use_count(), 1);
  clock_.advance(seconds(1));
  EXPECT_EQ(run(), 0U);
}

TEST_F(TimerQueueTest, TaskMayTouchTheQueueWhileItIsDestroyed) {
  struct Toucher {
    explicit Toucher(TimerQueue& queue_in) : queue(queue_in) {}
    TimerQueue& queue;
    ~Toucher() {
      (void)queue.add(kLongAgo, [] {});
    }
  };
  const auto key = queue_.add(in(seconds(1)), [held = std::make_shared<Toucher>(queue_)] {});
  queue_.remove(key);
  (void)queue_.add(in(seconds(1)), [held = std::make_shared<Toucher>(queue_)] {});
  queue_.end();
}

}  // namespace
}  // namespace tenure::runtime
