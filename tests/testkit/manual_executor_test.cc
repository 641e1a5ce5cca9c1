// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/testkit/manual_executor.h>

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tenure::testkit {
namespace {

using namespace std::chrono_literals;
using Log = std::vector<std::string>;
using HandlePtr = std::unique_ptr<Executor::Handle>;

class ManualExecutorTest : public testing::Test {
 protected:
  [[nodiscard]] Executor::Task note(std::string text) {
    return [this, text] { log_.push_back(text); };
  }

  ManualClock clock_;
  ManualExecutor executor_{clock_};
  Log log_;
};

TEST_F(ManualExecutorTest, RunsPostedTasksInOrderAndNeverInline) {
  executor_.post([this] {
    log_.emplace_back("first");
    executor_.post(note("third"));
  });
  executor_.post(note("second"));
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(executor_.run_until_idle(), 3U);
  EXPECT_EQ(log_, (Log{"first", "second", "third"}));
  EXPECT_EQ(executor_.run_until_idle(), 0U);
}

TEST_F(ManualExecutorTest, AdvanceStopsAtEachTimerAndEndsWhereItWasTold) {
  const Instant start = clock_.now();
  std::vector<Instant> seen;
  HandlePtr second;
  const HandlePtr first = executor_.at(start + 1s, [&] {
    seen.push_back(clock_.now());
    second = executor_.at(clock_.now() + 1s, [&] { seen.push_back(clock_.now()); });
  });
  EXPECT_EQ(executor_.next_due(), start + 1s);
  executor_.advance(10s);
  EXPECT_EQ(seen, (std::vector<Instant>{start + 1s, start + 2s}));
  EXPECT_EQ(clock_.now(), start + 10s);
  EXPECT_EQ(executor_.next_due(), kNever);
}

TEST_F(ManualExecutorTest, TimersOfOneInstantRunInTheOrderTheyWereMade) {
  const HandlePtr a = executor_.at(clock_.now() + 1s, note("a"));
  const HandlePtr b = executor_.at(clock_.now() + 1s, note("b"));
  const HandlePtr due = executor_.at(clock_.now(), note("due"));
  const HandlePtr never = executor_.at(kNever, note("never"));
  executor_.run_until_idle();
  EXPECT_EQ(log_, Log{"due"});
  executor_.advance(1s);
  EXPECT_EQ(log_, (Log{"due", "a", "b"}));
}

TEST_F(ManualExecutorTest, ADestroyedHandleIsNotCalledAgainEvenFromWithinItsOwnTask) {
  HandlePtr other = executor_.at(clock_.now() + 2s, note("other"));
  HandlePtr self;
  self = executor_.at(clock_.now() + 1s, [&] {
    self.reset();
    other.reset();
    log_.emplace_back("self");
  });
  executor_.advance(5s);
  EXPECT_EQ(log_, Log{"self"});
}

TEST_F(ManualExecutorTest, HandlesAndTheirTasksMayOutliveTheExecutor) {
  auto executor = std::make_unique<ManualExecutor>(clock_);
  const auto alive = std::make_shared<int>(1);
  HandlePtr timer = executor->at(clock_.now() + 1s, [alive] {});
  executor->post([alive] {});
  executor->run_blocking([alive] {});
  // A queued task that owns a handle: its end comes from within the executor's.
  HandlePtr inner = executor->at(clock_.now() + 1s, [alive] {});
  executor->post([owned = std::shared_ptr<Executor::Handle>(std::move(inner))] {});
  executor.reset();
  EXPECT_EQ(alive.use_count(), 1) << "what was queued is destroyed without being run";
  timer.reset();
}

TEST_F(ManualExecutorTest, WatchesADescriptorUntilItsHandleIsDestroyed) {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  auto handle = executor_.on_readable(fd, [&] {
    eventfd_t value = 0;
    ASSERT_EQ(::eventfd_read(fd, &value), 0);
    log_.emplace_back("read");
  });
  ASSERT_TRUE(handle.has_value());
  executor_.run_until_idle();
  EXPECT_TRUE(log_.empty());
  ::eventfd_write(fd, 1);
  executor_.run_until_idle();
  EXPECT_EQ(log_, Log{"read"});
  handle->reset();
  ::eventfd_write(fd, 1);
  executor_.run_until_idle();
  EXPECT_EQ(log_, Log{"read"});
  ::close(fd);
}

TEST_F(ManualExecutorTest, AWatchMayEndItselfAndAnotherFromWithinItsTask) {
  const int fd = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  HandlePtr first;
  HandlePtr second;
  const auto once = [&] {
    log_.emplace_back("ran");
    first.reset();
    second.reset();
  };
  first = executor_.on_readable(fd, once).value();
  second = executor_.on_readable(fd, once).value();
  executor_.run_until_idle();
  EXPECT_EQ(log_, Log{"ran"});
  ::close(fd);
}

TEST_F(ManualExecutorTest, RefusesToWatchWhatIsNotADescriptor) {
  const auto handle = executor_.on_readable(-1, [] {});
  ASSERT_FALSE(handle.has_value());
  EXPECT_EQ(handle.error().code, Errc::unavailable);
}

TEST_F(ManualExecutorTest, BlockingJobsRunWhenAskedAndInTheOrderTheTestChooses) {
  executor_.hold_blocking(true);
  executor_.run_blocking(note("a"));
  executor_.run_blocking(note("b"));
  executor_.run_until_idle();
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(executor_.blocking_count(), 2U);
  EXPECT_FALSE(executor_.run_held_blocking(2));
  EXPECT_TRUE(executor_.run_held_blocking(1));
  EXPECT_EQ(log_, Log{"b"});
  executor_.hold_blocking(false);
  executor_.run_until_idle();
  EXPECT_EQ(log_, (Log{"b", "a"}));
}

TEST_F(ManualExecutorTest, TheAnswerOfABlockingJobCanBeHeldAfterItsWorkWasDone) {
  executor_.hold_blocking(true);
  executor_.run_blocking([this] {
    log_.emplace_back("work");
    executor_.post(note("answer"));
  });
  EXPECT_TRUE(executor_.run_held_blocking_without_answer());
  executor_.post(note("meanwhile"));
  executor_.run_until_idle();
  EXPECT_EQ(log_, (Log{"work", "meanwhile"}));
  executor_.deliver_held_posts();
  executor_.run_until_idle();
  EXPECT_EQ(log_, (Log{"work", "meanwhile", "answer"}));
}

TEST_F(ManualExecutorTest, TheSameSeedGivesTheSameRandomNumbers) {
  ManualExecutor same(clock_, 1);
  ManualExecutor other(clock_, 2);
  const auto drawn = executor_.random();
  EXPECT_EQ(same.random(), drawn);
  EXPECT_NE(other.random(), drawn);
  EXPECT_NE(same.random(), drawn);
}

TEST_F(ManualExecutorTest, WaitUntilIsWokenByAPostOfAnotherThread) {
  bool done = false;
  std::thread poster([&] { executor_.post([&] { done = true; }); });
  EXPECT_TRUE(executor_.wait_until([&] { return done; }, 10s));
  poster.join();
}

TEST_F(ManualExecutorTest, WaitUntilIsWokenByADescriptorAndByTheClock) {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  bool timer_ran = false;
  bool read = false;
  const HandlePtr timer = executor_.at(clock_.now() + 1s, [&] { timer_ran = true; });
  const auto watch = executor_.on_readable(fd, [&] {
    eventfd_t value = 0;
    read = ::eventfd_read(fd, &value) == 0;
  });
  std::thread other([&] {
    ::eventfd_write(fd, 1);
    clock_.advance(1s);
  });
  EXPECT_TRUE(executor_.wait_until([&] { return read && timer_ran; }, 10s));
  other.join();
  ::close(fd);
}

TEST_F(ManualExecutorTest, WaitUntilGivesUpAtItsRealLimit) {
  EXPECT_FALSE(executor_.wait_until([] { return false; }, 1ms));
  EXPECT_FALSE(executor_.wait_until([] { return false; }, -1ms));
}

TEST_F(ManualExecutorTest, TwoExecutorsOnOneClockAreSteppedByTurns) {
  ManualExecutor second(clock_, 2);
  const HandlePtr a = executor_.at(clock_.now() + 1s, note("a"));
  const HandlePtr b = second.at(clock_.now() + 500ms, note("b"));
  const Instant end = clock_.now() + 2s;
  while (true) {
    executor_.run_until_idle();
    second.run_until_idle();
    const Instant due = std::min(executor_.next_due(), second.next_due());
    if (due > end) break;
    clock_.advance_to(due);
  }
  EXPECT_EQ(log_, (Log{"b", "a"}));
}

using ManualExecutorDeathTest = ManualExecutorTest;

TEST_F(ManualExecutorDeathTest, AbortsWithAReasonWhenATaskRepeatsItselfForEver) {
  std::function<void()> again = [&] { executor_.post(again); };
  executor_.post(again);
  EXPECT_DEATH(executor_.run_until_idle(), "never idle");
}

}  // namespace
}  // namespace tenure::testkit
