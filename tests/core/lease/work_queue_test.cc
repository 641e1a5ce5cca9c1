// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/work_queue.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>

namespace tenure::core {
namespace {

using std::chrono::milliseconds;
using Start = WorkQueue::Start;
using Fate = WorkQueue::Fate;

class WorkQueueTest : public testing::Test {
 protected:
  // Work that tells its number when it is called.
  Work numbered(int number) {
    return [this, number] {
      last_ = number;
      return WorkResult{};
    };
  }
  int number_of(Work& work) {
    last_ = -1;
    if (work) work();
    return last_;
  }
  int put(std::string_view key, int number, Start start = Start::at_once, Instant when = {}) {
    Work replaced = queue_.put(key, hash_key(key), numbered(number), start, when);
    return number_of(replaced);
  }
  WorkQueue::Taken take() { return queue_.take(now_); }
  WorkQueue::Finished finish(WorkQueue::Taken taken, bool retry = false) {
    return queue_.finish(taken.slot, std::move(taken.work), retry, now_ + milliseconds(100));
  }
  [[nodiscard]] Instant rested() const { return now_ + milliseconds(40); }
  int take_number() {
    WorkQueue::Taken taken = take();
    if (taken.slot == WorkQueue::kNone) return -1;
    const int number = number_of(taken.work);
    finish(std::move(taken));
    return number;
  }

  Instant now_{milliseconds(1000)};
  WorkQueue queue_;
  int last_ = -1;
};

TEST_F(WorkQueueTest, KeysAreTakenInTheOrderInWhichTheyCame) {
  put("a", 1);
  put("b", 2);
  put("c", 3);
  EXPECT_EQ(take_number(), 1);
  EXPECT_EQ(take_number(), 2);
  EXPECT_EQ(take_number(), 3);
  EXPECT_EQ(take_number(), -1);
}

TEST_F(WorkQueueTest, NewestWorkReplacesTheOlderAndKeepsItsPlace) {
  EXPECT_EQ(put("a", 1), -1);
  EXPECT_EQ(put("b", 2), -1);
  EXPECT_EQ(put("a", 3), 1);
  EXPECT_EQ(queue_.size(), 2U);
  EXPECT_EQ(take_number(), 3);
  EXPECT_EQ(take_number(), 2);
}

TEST_F(WorkQueueTest, WorkThatArrivesWhileItsKeyRunsRunsAfterIt) {
  put("a", 1);
  WorkQueue::Taken running = take();
  put("a", 2);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(take().slot, WorkQueue::kNone);
  EXPECT_EQ(finish(std::move(running)).fate, Fate::done);
  EXPECT_EQ(take_number(), 2);
  EXPECT_EQ(queue_.size(), 0U);
}

TEST_F(WorkQueueTest, RestedWorkWaitsUntilItsTime) {
  put("a", 1, Start::rested, rested());
  EXPECT_EQ(queue_.next_due(), rested());
  now_ += milliseconds(40) - Duration(1);
  EXPECT_EQ(take().slot, WorkQueue::kNone);
  now_ += Duration(1);
  EXPECT_EQ(take_number(), 1);
  EXPECT_EQ(queue_.next_due(), kNever);
}

TEST_F(WorkQueueTest, EarliestDueTimeWins) {
  put("a", 1, Start::rested, rested());
  now_ += milliseconds(10);
  EXPECT_EQ(put("a", 2, Start::rested, rested()), 1);
  now_ += milliseconds(30);
  EXPECT_EQ(take_number(), 2);

  put("b", 3, Start::rested, rested());
  EXPECT_EQ(put("b", 4), 3);
  EXPECT_EQ(take_number(), 4);

  put("c", 5);
  finish(take(), true);
  EXPECT_EQ(queue_.next_due(), now_ + milliseconds(100));
  put("c", 6, Start::rested, rested());
  EXPECT_EQ(queue_.next_due(), rested());
  now_ += milliseconds(40);
  EXPECT_EQ(take_number(), 6);
}

TEST_F(WorkQueueTest, ARetryThatComesSoonerIsNotPutOffByNewWork) {
  put("a", 1);
  finish(take(), true);
  now_ += milliseconds(90);
  put("a", 2, Start::rested, rested());
  now_ += milliseconds(10);
  EXPECT_EQ(take_number(), 2);
}

TEST_F(WorkQueueTest, RetryRunsTheNewestWorkAfterTheInterval) {
  put("a", 1);
  EXPECT_EQ(finish(take(), true).fate, Fate::retried);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(take().slot, WorkQueue::kNone);
  now_ += milliseconds(100);
  EXPECT_EQ(take_number(), 1);
}

TEST_F(WorkQueueTest, RetryGivesWayToWorkThatCameMeanwhile) {
  put("a", 1);
  WorkQueue::Taken running = take();
  put("a", 2);
  WorkQueue::Finished finished = finish(std::move(running), true);
  EXPECT_EQ(finished.fate, Fate::replaced);
  EXPECT_EQ(number_of(finished.work), 1);
  EXPECT_EQ(take_number(), 2);
}

TEST_F(WorkQueueTest, NewWorkThatRestsIsDueByTheRetryIfThatIsSooner) {
  put("a", 1);
  WorkQueue::Taken running = take();
  put("a", 2, Start::rested, now_ + milliseconds(500));
  finish(std::move(running), true);
  EXPECT_EQ(queue_.next_due(), now_ + milliseconds(100));
  now_ += milliseconds(100);
  EXPECT_EQ(take_number(), 2);
}

TEST_F(WorkQueueTest, DroppedWorkComesOutAtOnce) {
  put("a", 1);
  put("b", 2);
  WorkQueue::Dropped dropped = queue_.drop("a", hash_key("a"), DropReason::removed);
  EXPECT_TRUE(dropped.pending);
  EXPECT_EQ(number_of(dropped.work), 1);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_FALSE(queue_.drop("a", hash_key("a"), DropReason::removed).pending);
  EXPECT_EQ(take_number(), 2);
}

TEST_F(WorkQueueTest, WorkDroppedWhileItRunsIsNotRetried) {
  for (const auto& [reason, fate] : {std::pair(DropReason::removed, Fate::removed),
                                     std::pair(DropReason::seen_elsewhere, Fate::seen_elsewhere)}) {
    put("a", 1);
    WorkQueue::Taken running = take();
    EXPECT_TRUE(queue_.drop("a", hash_key("a"), reason).pending);
    EXPECT_EQ(queue_.size(), 0U);
    EXPECT_FALSE(queue_.drop("a", hash_key("a"), reason).pending);
    EXPECT_EQ(finish(std::move(running), true).fate, fate);
    now_ += milliseconds(1000);
    EXPECT_EQ(take().slot, WorkQueue::kNone);
  }
}

TEST_F(WorkQueueTest, WorkSubmittedAfterADropWhileRunningRunsAfterIt) {
  put("a", 1);
  WorkQueue::Taken running = take();
  queue_.drop("a", hash_key("a"), DropReason::removed);
  put("a", 2);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(finish(std::move(running), true).fate, Fate::removed);
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(take_number(), 2);
}

TEST_F(WorkQueueTest, EndOfRestMakesRestingWorkDueButNotRetries) {
  put("a", 1, Start::rested, rested());
  put("b", 2);
  put("c", 3, Start::rested, rested());
  EXPECT_EQ(finish(take(), true).fate, Fate::retried);
  queue_.end_rest();
  EXPECT_EQ(take_number(), 1);
  EXPECT_EQ(take_number(), 3);
  EXPECT_EQ(take_number(), -1);
  queue_.end_all_waits();
  EXPECT_EQ(take_number(), 2);
}

TEST_F(WorkQueueTest, RestThatEndedIsNotTakenUpAgainByNewWork) {
  put("a", 1, Start::rested, rested());
  queue_.end_rest();
  EXPECT_EQ(put("a", 2, Start::rested, now_ + milliseconds(400)), 1);
  EXPECT_EQ(take_number(), 2);
  put("b", 3);
  finish(take(), true);
  queue_.end_all_waits();
  EXPECT_EQ(put("b", 4, Start::rested, now_ + milliseconds(1)), 3);
  EXPECT_EQ(take_number(), 4);
}

// Labels of emptied lists are told from true ones by a number that starts anew after 65,536 times.
TEST_F(WorkQueueTest, RestThatEndedStaysEndedHoweverOftenOthersRestAfterIt) {
  put("a", 1, Start::rested, now_ + milliseconds(400));
  queue_.end_rest();
  for (int i = 0; i < 65'535; ++i) {
    put("b", 2, Start::rested, now_);
    queue_.end_rest();
    queue_.drop("b", hash_key("b"), DropReason::removed);
  }
  put("c", 3);
  EXPECT_EQ(put("a", 4), 1);
  EXPECT_EQ(take_number(), 4) << "it has been due for long: it keeps its place";
  EXPECT_EQ(take_number(), 3);
}

TEST_F(WorkQueueTest, WaitingWorkGetsItsTurnBesideAStreamOfNewWork) {
  put("waiting", 1, Start::rested, now_);
  put("retried", 2);
  WorkQueue::Taken retried = take();
  while (number_of(retried.work) != 2) {
    finish(std::move(retried), true);
    retried = take();
  }
  finish(std::move(retried), true);
  now_ += milliseconds(100);
  bool seen = false;
  for (int i = 0; i < 10 && !seen; ++i) {
    put("stream" + std::to_string(i), 100 + i);
    put("more" + std::to_string(i), 200 + i);
    seen = take_number() == 2;
  }
  EXPECT_TRUE(seen);
}

TEST_F(WorkQueueTest, TakeAnyEmptiesEveryListEvenBehindARunningKey) {
  put("a", 1);
  put("b", 2);
  WorkQueue::Taken running = take();
  put("a", 3);
  finish(take(), true);
  put("c", 4, Start::rested, rested());
  int count = 0;
  while (queue_.take_any()) ++count;
  EXPECT_EQ(count, 3);
  EXPECT_EQ(queue_.size(), 1U) << "what runs still counts";
  finish(std::move(running));
  EXPECT_EQ(queue_.size(), 0U);
  EXPECT_EQ(queue_.slab().in_use(), 0U);
}

TEST_F(WorkQueueTest, HoldsNoMemoryForWhatIsGone) {
  for (int i = 0; i < 100'000; ++i) put("key-" + std::to_string(i), i);
  EXPECT_GE(queue_.slab().blocks_held(), 100'000 / SlotSlab::kBlockSlots);
  for (int i = 0; i < 100'000; ++i) {
    const std::string key = "key-" + std::to_string(i);
    EXPECT_TRUE(queue_.drop(key, hash_key(key), DropReason::removed).pending);
  }
  EXPECT_EQ(queue_.slab().blocks_held(), 0U);
  EXPECT_LE(queue_.index().capacity(), 64U);
}

}  // namespace
}  // namespace tenure::core
