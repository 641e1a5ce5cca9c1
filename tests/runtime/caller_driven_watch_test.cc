// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Watched descriptors at their edges. In caller-driven mode, where the test decides when the loop
// goes round.
#include <tenure/runtime.h>
#include <tenure/testkit/manual_clock.h>

#include "tests/runtime/child.h"
#include "tests/runtime/drive.h"

#include <gtest/gtest.h>
#include <memory>
#include <poll.h>

namespace tenure {
namespace {

using test::new_runtime;
using test::Signal;

class CallerDrivenWatchTest : public testing::Test {
 protected:
  [[nodiscard]] bool due() const {
    pollfd entry{runtime_->fd(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  void drain() {
    while (due()) (void)runtime_->poll();
  }
  std::unique_ptr<Executor::Handle> watch(const Signal& signal, Executor::Task task) {
    auto handle = runtime_->on_readable(signal.fd(), std::move(task));
    EXPECT_TRUE(handle) << handle.error().message;
    return handle ? std::move(*handle) : nullptr;
  }

  testkit::ManualClock clock_;
  std::unique_ptr<Runtime> runtime_ = new_runtime({.threads = Threads::caller, .clock = &clock_});
};

TEST_F(CallerDrivenWatchTest, TaskOfAnEndedWatchIsNotCalledThoughItsDescriptorWasReadableBefore) {
  const Signal signal;
  auto handle = watch(signal, [] { ADD_FAILURE(); });
  drain();
  signal.raise();
  handle.reset();
  drain();
}

TEST_F(CallerDrivenWatchTest, WatchThatEndsBeforeTheLoopHasSeenItIsNeverBegun) {
  const Signal signal;
  watch(signal, [] { ADD_FAILURE(); }).reset();
  signal.raise();
  drain();
}

TEST_F(CallerDrivenWatchTest, TaskMayEndAnotherWatchThatIsReadableInTheSameRound) {
  const Signal first;
  const Signal second;
  std::unique_ptr<Executor::Handle> handles[2];
  int ran = 0;
  const auto end_both = [&] {
    ++ran;
    for (auto& handle : handles) handle.reset();
  };
  handles[0] = watch(first, end_both);
  handles[1] = watch(second, end_both);
  drain();
  first.raise();
  second.raise();
  drain();
  EXPECT_EQ(ran, 1);
}

TEST_F(CallerDrivenWatchTest, NumberIsFreeForTheNextFileBeforeTheLoopHasForgottenTheFormerOne) {
  auto former = std::make_unique<Signal>();
  auto former_watch = watch(*former, [] { ADD_FAILURE(); });
  drain();
  std::unique_ptr<Signal> next;
  std::unique_ptr<Executor::Handle> next_watch;
  int ran = 0;
  // This task is queued before the loop is asked to forget the former watch.
  runtime_->post([&] {
    next_watch = watch(*next, [&] {
      next->clear();
      ++ran;
    });
  });
  const int number = former->fd();
  former_watch.reset();
  former.reset();
  next = std::make_unique<Signal>();
  ASSERT_EQ(next->fd(), number);
  drain();
  next->raise();
  drain();
  EXPECT_EQ(ran, 1);
}

TEST_F(CallerDrivenWatchTest, NothingRunsAfterATaskHasDestroyedTheRuntime) {
  const Signal first;
  const Signal second;
  int ran = 0;
  const auto destroy = [&] {
    ++ran;
    runtime_.reset();
  };
  const auto one = watch(first, destroy);
  const auto other = watch(second, destroy);
  const auto timer = runtime_->at(clock_.now() + Duration(1), destroy);
  drain();
  first.raise();
  second.raise();
  clock_.advance(Duration(1));
  (void)runtime_->poll();
  EXPECT_EQ(ran, 1);
}

TEST_F(CallerDrivenWatchTest, TasksThatHoldHandlesAreFreedWhenATaskDestroysTheRuntime) {
  const auto owned = std::make_shared<int>(1);
  std::shared_ptr<Executor::Handle> timer = runtime_->at(kNever - Duration(1), [owned] {});
  runtime_->post([&] { runtime_.reset(); });
  runtime_->post([timer = std::move(timer), owned] { ADD_FAILURE(); });
  (void)runtime_->poll();
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_F(CallerDrivenWatchTest, LK03_ForkedChildDoesNotWakeTheParentWhateverItCalls) {
  drain();
  EXPECT_EQ(test::in_child([&] {
              runtime_->post([] {});
              runtime_->run_blocking([] {});
              runtime_->call_back([] {});
              return runtime_->at(kLongAgo, [] {}) ? 0 : 1;
            }),
            0);
  EXPECT_FALSE(due());
}

TEST_F(CallerDrivenWatchTest, LK03_HandleThatIsDestroyedInAForkedChildDoesNotWakeTheParent) {
  const Signal signal;
  int ran = 0;
  auto handle = watch(signal, [&] {
    signal.clear();
    ++ran;
  });
  auto timer = runtime_->at(clock_.now() + Duration(1), [&] { ++ran; });
  drain();
  EXPECT_EQ(test::in_child([&] {
              handle.reset();
              timer.reset();
              return 0;
            }),
            0);
  EXPECT_FALSE(due());
  signal.raise();
  clock_.advance(Duration(1));
  drain();
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace tenure
