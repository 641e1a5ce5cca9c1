// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Caller-driven mode as a user sees it: nothing but epoll on fd() says when to poll().
#include <tenure/runtime.h>
#include <tenure/testkit/manual_clock.h>

#include "runtime/engine.h"
#include "tests/runtime/drive.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <memory>
#include <sys/epoll.h>
#include <thread>
#include <unistd.h>

namespace tenure {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::new_runtime;
using test::Signal;

constexpr int kLongMs = 20'000;
// How many tasks of the loop one poll() runs at most.
constexpr std::size_t kMostTasks = 256;

std::size_t threads_of_this_process() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/task");
  while (const dirent* entry = ::readdir(folder)) count += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  return count;
}

class CallerDrivenTest : public testing::Test {
 protected:
  CallerDrivenTest() {
    epoll_event event{};
    event.events = EPOLLIN;
    EXPECT_EQ(::epoll_ctl(epoll_, EPOLL_CTL_ADD, runtime_->fd(), &event), 0);
  }
  ~CallerDrivenTest() override { ::close(epoll_); }

  [[nodiscard]] bool due(int limit_ms = 0) const {
    epoll_event event{};
    return ::epoll_wait(epoll_, &event, 1, limit_ms) == 1;
  }
  /// Polls as long as the descriptor says so; returns how many tasks that were.
  std::size_t drain() {
    std::size_t ran = 0;
    while (due()) ran += runtime_->poll();
    return ran;
  }

  testkit::ManualClock clock_;
  std::unique_ptr<Runtime> runtime_ = new_runtime({.threads = Threads::caller, .clock = &clock_});
  int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
};

TEST_F(CallerDrivenTest, NothingIsDueAfterCreationAndAPollThatDoesNothingReturnsZero) {
  EXPECT_FALSE(due());
  EXPECT_EQ(runtime_->poll(), 0U);
  EXPECT_FALSE(due());
}

TEST_F(CallerDrivenTest, PostIsSeenBeforeAnyPollAndFromAnyThread) {
  bool ran = false;
  std::thread([&] { runtime_->post([&] { ran = true; }); }).join();
  ASSERT_TRUE(due());
  EXPECT_EQ(runtime_->poll(), 1U);
  EXPECT_TRUE(ran);
  EXPECT_FALSE(due()) << "a loop that trusts the descriptor must not spin";
}

TEST_F(CallerDrivenTest, TimerIsSeenBeforeAnyPollAndFromAnyThread) {
  bool ran = false;
  std::unique_ptr<Executor::Handle> timer;
  std::thread([&] { timer = runtime_->at(clock_.now() + seconds(1), [&] { ran = true; }); }).join();
  EXPECT_FALSE(due());
  clock_.advance(seconds(1));
  ASSERT_TRUE(due());
  EXPECT_EQ(runtime_->poll(), 1U);
  EXPECT_TRUE(ran);
  EXPECT_FALSE(due());
}

TEST_F(CallerDrivenTest, BlockingTaskAndCallbackAreSeenFromAnyThread) {
  bool blocking = false;
  bool callback = false;
  std::thread([&] { runtime_->run_blocking([&] { blocking = true; }); }).join();
  ASSERT_TRUE(due());
  EXPECT_EQ(runtime_->poll(), 1U);
  EXPECT_TRUE(blocking);
  EXPECT_FALSE(due());
  std::thread([&] { runtime_->call_back([&] { callback = true; }); }).join();
  ASSERT_TRUE(due());
  EXPECT_EQ(runtime_->poll(), 1U);
  EXPECT_TRUE(callback);
  EXPECT_FALSE(due());
}

TEST_F(CallerDrivenTest, WhatATaskBeginsToWatchIsArmedWhenPollReturns) {
  const Signal signal;
  std::unique_ptr<Executor::Handle> watch;
  int ran = 0;
  runtime_->post([&] {
    watch = *runtime_->on_readable(signal.fd(), [&] {
      signal.clear();
      ++ran;
    });
  });
  ASSERT_TRUE(due());
  (void)runtime_->poll();
  EXPECT_FALSE(due());
  signal.raise();
  ASSERT_TRUE(due());
  EXPECT_EQ(runtime_->poll(), 1U);
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(due());
}

TEST_F(CallerDrivenTest, WhatACallbackOrABlockingTaskBeginsToWatchIsArmedWhenPollReturns) {
  const Signal first;
  const Signal second;
  std::vector<std::unique_ptr<Executor::Handle>> watches;
  int ran = 0;
  const auto watch = [&](const Signal& signal) {
    watches.push_back(*runtime_->on_readable(signal.fd(), [&] {
      signal.clear();
      ++ran;
    }));
  };
  runtime_->call_back([&] { watch(first); });
  (void)drain();
  first.raise();
  ASSERT_TRUE(due());
  (void)drain();
  EXPECT_EQ(ran, 1);
  runtime_->run_blocking([&] { watch(second); });
  (void)drain();
  second.raise();
  ASSERT_TRUE(due());
  (void)drain();
  EXPECT_EQ(ran, 2);
}

TEST_F(CallerDrivenTest, WatchAskedForOutsidePollWakesTheLoopThatArmsIt) {
  const Signal signal;
  int ran = 0;
  const auto watch = runtime_->on_readable(signal.fd(), [&] {
    signal.clear();
    ++ran;
  });
  ASSERT_TRUE(watch);
  ASSERT_TRUE(due()) << "or nobody would ever poll";
  (void)drain();
  signal.raise();
  ASSERT_TRUE(due());
  (void)drain();
  EXPECT_EQ(ran, 1);
}

TEST_F(CallerDrivenTest, TaskOfAWatchThatBeginsToWatchAnotherIsServedToo) {
  std::vector<std::unique_ptr<Signal>> signals;
  std::vector<std::unique_ptr<Executor::Handle>> watches;
  for (int i = 0; i < 20; ++i) signals.push_back(std::make_unique<Signal>());
  for (const auto& signal : signals) signal->raise();
  std::function<void(std::size_t)> watch = [&](std::size_t index) {
    watches.push_back(*runtime_->on_readable(signals[index]->fd(), [&, index] {
      signals[index]->clear();
      if (index + 1 < signals.size()) watch(index + 1);
    }));
  };
  runtime_->post([&] { watch(0); });
  (void)drain();
  EXPECT_EQ(watches.size(), signals.size());
  EXPECT_FALSE(due());
}

TEST_F(CallerDrivenTest, WhatTheLastTaskOfAFullPollBeginsToWatchIsArmedToo) {
  const Signal signal;
  std::unique_ptr<Executor::Handle> watch;
  for (std::size_t i = 1; i < kMostTasks; ++i) runtime_->post([] {});
  runtime_->post([&] { watch = *runtime_->on_readable(signal.fd(), [&] { signal.clear(); }); });
  ASSERT_EQ(runtime_->poll(), kMostTasks);
  signal.raise();
  EXPECT_TRUE(due());
  EXPECT_EQ(drain(), 1U);
}

TEST_F(CallerDrivenTest, OnePollRunsABoundedNumberOfPostedTasksAndLeavesTheRestInOrder) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < 3 * kMostTasks; ++i) runtime_->post([&, i] { order.push_back(i); });
  EXPECT_EQ(runtime_->poll(), kMostTasks);
  EXPECT_EQ(order.size(), kMostTasks);
  EXPECT_TRUE(due());
  EXPECT_EQ(drain(), 2 * kMostTasks);
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i);
}

TEST_F(CallerDrivenTest, OnePollServesABoundedNumberOfDescriptorsAndTheNextOneTheOthers) {
  std::vector<std::unique_ptr<Signal>> signals;
  std::vector<std::unique_ptr<Executor::Handle>> watches;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < kMostTasks + 50; ++i) {
    const Signal& signal = *signals.emplace_back(std::make_unique<Signal>());
    watches.push_back(*runtime_->on_readable(signal.fd(), [&] {
      signal.clear();
      ++ran;
    }));
  }
  (void)drain();
  for (const auto& signal : signals) signal->raise();
  EXPECT_EQ(runtime_->poll(), kMostTasks);
  EXPECT_EQ(ran, kMostTasks);
  EXPECT_TRUE(due());
  EXPECT_EQ(runtime_->poll(), 50U);
  EXPECT_FALSE(due());
}

TEST_F(CallerDrivenTest, TimerSetByATaskIsArmedWhenPollReturnsOnARealClockToo) {
  const auto runtime = new_runtime({.threads = Threads::caller});
  epoll_event event{};
  event.events = EPOLLIN;
  ASSERT_EQ(::epoll_ctl(epoll_, EPOLL_CTL_ADD, runtime->fd(), &event), 0);
  std::unique_ptr<Executor::Handle> timer;
  bool ran = false;
  Instant when;
  runtime->post([&] {
    when = system_clock().now() + milliseconds(20);
    timer = runtime->at(when, [&] { ran = true; });
  });
  while (due()) (void)runtime->poll();
  ASSERT_FALSE(ran);
  ASSERT_TRUE(due(kLongMs)) << "epoll alone must say when the timer is due";
  EXPECT_GE(system_clock().now(), when);
  EXPECT_EQ(runtime->poll(), 1U);
  EXPECT_TRUE(ran);
}

TEST_F(CallerDrivenTest, CancelledTimerLeavesNothingThatSpins) {
  auto timer = runtime_->at(clock_.now() + seconds(1), [] { ADD_FAILURE(); });
  timer.reset();
  clock_.advance(seconds(1));
  EXPECT_EQ(drain(), 0U);
  EXPECT_FALSE(due());
}

TEST_F(CallerDrivenTest, PollReturnsFromTasksThatRepeatThemselvesAndTheRestIsStillDue) {
  std::size_t ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    runtime_->post(again);
  };
  runtime_->post(again);
  const std::size_t reported = runtime_->poll();
  EXPECT_EQ(reported, ran);
  EXPECT_TRUE(due());
  EXPECT_GT(runtime_->poll(), 0U);
}

TEST_F(CallerDrivenTest, PollReturnsFromTimersThatRepeatThemselvesAndTheRestIsStillDue) {
  std::size_t ran = 0;
  std::unique_ptr<Executor::Handle> timer;
  std::function<void()> again = [&] {
    ++ran;
    timer = runtime_->at(kLongAgo, again);
  };
  timer = runtime_->at(kLongAgo, again);
  EXPECT_EQ(runtime_->poll(), ran);
  EXPECT_TRUE(due());
}

TEST_F(CallerDrivenTest, PollReturnsFromADescriptorThatNobodyDrains) {
  const Signal signal;
  signal.raise();
  std::size_t ran = 0;
  const auto watch = runtime_->on_readable(signal.fd(), [&] { ++ran; });
  (void)runtime_->poll();
  EXPECT_GT(ran, 0U);
  EXPECT_TRUE(due());
}

TEST_F(CallerDrivenTest, OnePollRunsABoundedNumberOfBlockingTasksAndCallbacks) {
  int blocking = 0;
  int callbacks = 0;
  for (int i = 0; i < 100; ++i) {
    runtime_->run_blocking([&] { ++blocking; });
    runtime_->call_back([&] { ++callbacks; });
  }
  const std::size_t ran = runtime_->poll();
  EXPECT_EQ(ran, static_cast<std::size_t>(blocking + callbacks));
  EXPECT_LE(blocking, 10);
  EXPECT_LE(callbacks, 10);
  EXPECT_TRUE(due());
  (void)drain();
  EXPECT_EQ(blocking, 100);
  EXPECT_EQ(callbacks, 100);
}

TEST_F(CallerDrivenTest, CallbacksThatRepeatThemselvesDoNotKeepTimersWaiting) {
  std::function<void()> again = [&] { runtime_->call_back(again); };
  runtime_->call_back(again);
  bool ran = false;
  const auto timer = runtime_->at(clock_.now(), [&] { ran = true; });
  (void)runtime_->poll();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(due());
}

TEST_F(CallerDrivenTest, PollFromWithinATaskOrACallbackDoesNothing) {
  bool inner_ran = false;
  std::size_t from_task = 9;
  std::size_t from_callback = 9;
  runtime_->post([&] {
    runtime_->post([&] { inner_ran = true; });
    from_task = runtime_->poll();
    EXPECT_FALSE(inner_ran);
  });
  runtime_->call_back([&] { from_callback = runtime_->poll(); });
  (void)drain();
  EXPECT_EQ(from_task, 0U);
  EXPECT_EQ(from_callback, 0U);
  EXPECT_TRUE(inner_ran);
}

TEST_F(CallerDrivenTest, WhateverRunsInsidePollKnowsThatItMustNotWaitForTheLoop) {
  const auto engine = runtime::engine_of(*runtime_);
  int inside = 0;
  const auto note = [&] { inside += engine->on_loop() ? 1 : 0; };
  runtime_->post(note);
  runtime_->run_blocking(note);
  runtime_->call_back(note);
  EXPECT_FALSE(engine->on_loop());
  (void)drain();
  EXPECT_EQ(inside, 3);
  EXPECT_FALSE(engine->on_loop());
}

TEST_F(CallerDrivenTest, US03_NoThreadIsEverStarted) {
  const std::size_t before = threads_of_this_process();
  for (int i = 0; i < 20; ++i) {
    runtime_->run_blocking([] {});
    runtime_->call_back([] {});
  }
  (void)drain();
  EXPECT_EQ(threads_of_this_process(), before);
}

TEST_F(CallerDrivenTest, RuntimeMayBeDestroyedByACallbackOrATaskOfItsOwnPoll) {
  for (const bool by_callback : {true, false}) {
    auto runtime = new_runtime({.threads = Threads::caller, .clock = &clock_});
    const auto owned = std::make_shared<int>(1);
    auto destroy = [&runtime] { runtime.reset(); };
    if (by_callback) {
      runtime->call_back(destroy);
      runtime->call_back([owned] { ADD_FAILURE(); });
    } else {
      runtime->post(destroy);
      runtime->post([owned] { ADD_FAILURE(); });
    }
    EXPECT_EQ(runtime->poll(), 1U);
    EXPECT_EQ(runtime, nullptr);
    EXPECT_EQ(owned.use_count(), 1) << "what was queued is destroyed unrun";
  }
}

}  // namespace
}  // namespace tenure
