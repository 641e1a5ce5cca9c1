// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Watched descriptors at their edges. In caller-driven mode, where the test decides when the loop
// goes round.
#include <tenure/runtime.h>
#include <tenure/testkit/manual_clock.h>

#include "tests/runtime/child.h"
#include "tests/runtime/drive.h"

#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <poll.h>
#include <unistd.h>
#include <utility>

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

TEST_F(CallerDrivenWatchTest, WatchThatCannotBeginAfterTheCallTellsItsTaskUntilItCan) {
  const Signal signal;
  const Signal other;
  int ran = 0;
  const auto handle = watch(signal, [&] {
    signal.clear();
    ++ran;
  });
  // Its number now means a plain file, which cannot be watched.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(::dup2(::fileno(file.get()), signal.fd()), signal.fd());
  drain();
  EXPECT_EQ(ran, 1);
  clock_.advance(std::chrono::milliseconds(100));
  drain();
  EXPECT_EQ(ran, 2);
  ASSERT_EQ(::dup2(other.fd(), signal.fd()), signal.fd());
  clock_.advance(std::chrono::milliseconds(100));
  drain();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(clock_.next_timer(), kNever) << "it has begun";
  signal.raise();
  drain();
  EXPECT_EQ(ran, 3);
}

TEST_F(CallerDrivenWatchTest, WatchThatCannotBeginIsNotTriedAfterItsEnd) {
  const Signal signal;
  int ran = 0;
  std::unique_ptr<Executor::Handle> handle;
  handle = watch(signal, [&] {
    ++ran;
    handle.reset();
  });
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(::dup2(::fileno(file.get()), signal.fd()), signal.fd());
  drain();
  clock_.advance(std::chrono::seconds(1));
  drain();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(clock_.next_timer(), kNever);
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

TEST_F(CallerDrivenWatchTest, LK03_ForkedChildThatPollsTakesNothingAwayFromTheParent) {
  int ran = 0;
  runtime_->post([&] { ++ran; });
  EXPECT_EQ(test::in_child([&] { return runtime_->poll() == 0 && ran == 0 ? 0 : 1; }), 0);
  EXPECT_TRUE(due());
  EXPECT_EQ(runtime_->poll(), 1U);
  EXPECT_EQ(ran, 1);
}

// A clock whose timers call a function of the test while they are armed: with the locks held that
// are held then.
class HookedClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return manual_.now(); }
  [[nodiscard]] WallTime wall_now() const noexcept override { return manual_.wall_now(); }
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override {
    return std::make_unique<HookedTimer>(*this, manual_.make_timer());
  }
  std::function<void()> on_arm;

 private:
  class HookedTimer final : public Timer {
   public:
    HookedTimer(const HookedClock& clock, std::unique_ptr<Timer> timer)
        : clock_(clock), timer_(std::move(timer)) {}
    [[nodiscard]] int fd() const noexcept override { return timer_->fd(); }
    void arm(Instant when) noexcept override {
      if (clock_.on_arm) clock_.on_arm();
      timer_->arm(when);
    }

   private:
    const HookedClock& clock_;
    std::unique_ptr<Timer> timer_;
  };

  testkit::ManualClock manual_;
};

TEST(CallerDrivenFork, LK03_ChildDoesNotWaitForALockThatWasHeldWhenItWasForked) {
  HookedClock clock;
  auto runtime = new_runtime({.threads = Threads::caller, .clock = &clock});
  auto timer = runtime->at(clock.now() + Duration(2), [] {});
  int result = -1;
  clock.on_arm = [&] {
    result = test::in_child([&] {
      ::alarm(10);
      timer.reset();
      (void)runtime->at(clock.now(), [] {});
      runtime.reset();
      return 0;
    });
  };
  (void)runtime->at(clock.now() + Duration(1), [] {});
  EXPECT_EQ(result, 0);
  clock.on_arm = nullptr;
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
