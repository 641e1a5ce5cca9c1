// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What include/tenure/executor.h promises, in both modes.
#include <tenure/runtime.h>
#include <tenure/testkit/manual_clock.h>

#include "tests/runtime/drive.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace tenure {
namespace {

using std::chrono::seconds;
using test::drive_until;
using test::new_runtime;
using test::settle;
using test::Signal;
using testing::HasSubstr;

class RuntimeTest : public testing::TestWithParam<Threads> {
 protected:
  [[nodiscard]] bool library() const { return GetParam() == Threads::library; }

  testkit::ManualClock clock_;
  std::unique_ptr<Runtime> runtime_ = new_runtime({.threads = GetParam(), .clock = &clock_});
};

INSTANTIATE_TEST_SUITE_P(Modes, RuntimeTest, testing::Values(Threads::library, Threads::caller),
                         test::name_of);

TEST_P(RuntimeTest, SaysWhichModeItIs) {
  EXPECT_EQ(runtime_->threads(), GetParam());
  EXPECT_EQ(&runtime_->clock(), &clock_);
  if (library()) {
    EXPECT_EQ(runtime_->fd(), -1);
    EXPECT_EQ(runtime_->poll(), 0U);
  } else {
    EXPECT_GE(runtime_->fd(), 0);
  }
}

TEST_P(RuntimeTest, PostedTasksRunInOrderOneAtATimeWhicheverThreadPostsThem) {
  constexpr int kEach = 2000;
  std::array<std::vector<int>, 3> order;
  std::atomic<int> ran{0};
  std::atomic<bool> within{false};
  std::vector<std::thread> threads;
  for (auto& own : order) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        runtime_->post([&own, &ran, &within, i] {
          EXPECT_FALSE(within.exchange(true));
          own.push_back(i);
          within = false;
          ++ran;
        });
      }
    });
  }
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 3 * kEach; }));
  for (auto& thread : threads) thread.join();
  for (const auto& own : order) EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
}

TEST_P(RuntimeTest, PostNeverRunsATaskInline) {
  std::vector<int> order;
  runtime_->post([&] {
    runtime_->post([&] { order.push_back(2); });
    order.push_back(1);
  });
  ASSERT_TRUE(settle(*runtime_));
  ASSERT_TRUE(settle(*runtime_));
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST_P(RuntimeTest, TimersAreCountedOnTheGivenClockAndRunInOrder) {
  std::vector<int> order;
  std::vector<std::unique_ptr<Executor::Handle>> timers;
  const Instant start = clock_.now();
  runtime_->post([&] {
    timers.push_back(runtime_->at(start + seconds(20), [&] { order.push_back(20); }));
    timers.push_back(runtime_->at(start + seconds(10), [&] { order.push_back(10); }));
    timers.push_back(runtime_->at(kNever, [&] { order.push_back(99); }));
  });
  ASSERT_TRUE(settle(*runtime_));
  EXPECT_TRUE(order.empty());
  clock_.advance(seconds(10));
  std::atomic<bool> done{false};
  runtime_->post([&] { timers.push_back(runtime_->at(kLongAgo, [&] { done = true; })); });
  ASSERT_TRUE(drive_until(*runtime_, [&] { return done.load(); }));
  EXPECT_EQ(order, std::vector{10});
  clock_.advance(std::chrono::hours(24 * 365 * 100));
  done = false;
  runtime_->post([&] { timers.push_back(runtime_->at(kLongAgo, [&] { done = true; })); });
  ASSERT_TRUE(drive_until(*runtime_, [&] { return done.load(); }));
  EXPECT_EQ(order, (std::vector{10, 20}));
  runtime_->post([&] { timers.clear(); });
  ASSERT_TRUE(settle(*runtime_));
}

TEST_P(RuntimeTest, TimerOfAnotherThreadFiresOnTheLoop) {
  std::thread::id loop;
  runtime_->post([&] { loop = std::this_thread::get_id(); });
  ASSERT_TRUE(settle(*runtime_));
  std::atomic<bool> fired{false};
  std::unique_ptr<Executor::Handle> timer;
  std::thread([&] {
    timer = runtime_->at(clock_.now() + seconds(1), [&, loop] {
      EXPECT_EQ(std::this_thread::get_id(), loop);
      fired = true;
    });
  }).join();
  clock_.advance(seconds(1));
  EXPECT_TRUE(drive_until(*runtime_, [&] { return fired.load(); }));
}

TEST_P(RuntimeTest, DestroyedTimerDoesNotRun) {
  std::unique_ptr<Executor::Handle> timer;
  const auto owned = std::make_shared<int>(1);
  runtime_->post([&] {
    timer = runtime_->at(clock_.now() + seconds(1), [owned] { ADD_FAILURE(); });
    timer.reset();
    EXPECT_EQ(owned.use_count(), 1) << "its task is destroyed with it";
  });
  ASSERT_TRUE(settle(*runtime_));
  clock_.advance(seconds(2));
  ASSERT_TRUE(settle(*runtime_));
}

TEST_P(RuntimeTest, TimerMayDestroyItselfInItsOwnTask) {
  std::unique_ptr<Executor::Handle> timer;
  std::atomic<int> ran{0};
  runtime_->post([&] {
    timer = runtime_->at(clock_.now(), [&, owned = std::make_shared<int>(5)] {
      timer.reset();
      ran += *owned;
    });
  });
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 5; }));
}

TEST_P(RuntimeTest, WatchedDescriptorRunsItsTaskAgainWhileItIsReadable) {
  const Signal signal;
  std::atomic<int> ran{0};
  std::unique_ptr<Executor::Handle> watch;
  runtime_->post([&] {
    auto watching = runtime_->on_readable(signal.fd(), [&] {
      if (++ran % 3 == 0) signal.clear();
    });
    ASSERT_TRUE(watching) << watching.error().message;
    watch = std::move(*watching);
  });
  ASSERT_TRUE(settle(*runtime_));
  EXPECT_EQ(ran, 0);
  signal.raise();
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 3; }));
  signal.raise();
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 6; }));
  runtime_->post([&] { watch.reset(); });
  ASSERT_TRUE(settle(*runtime_));
  signal.raise();
  ASSERT_TRUE(settle(*runtime_));
  EXPECT_EQ(ran, 6);
}

TEST_P(RuntimeTest, DescriptorIsWatchedFromWhateverThreadItIsAskedFor) {
  const Signal signal;
  std::atomic<int> ran{0};
  auto watch = runtime_->on_readable(signal.fd(), [&] {
    signal.clear();
    ++ran;
  });
  ASSERT_TRUE(watch);
  signal.raise();
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 1; }));
  runtime_->post([&] { watch->reset(); });
  ASSERT_TRUE(settle(*runtime_));
}

TEST_P(RuntimeTest, WatchMayEndInItsOwnTaskAndItsDescriptorBeClosedAtOnce) {
  auto signal = std::make_unique<Signal>();
  std::unique_ptr<Executor::Handle> watch;
  std::atomic<int> ran{0};
  runtime_->post([&] {
    watch = *runtime_->on_readable(signal->fd(), [&, owned = std::make_shared<int>(5)] {
      watch.reset();
      signal.reset();
      ran += *owned;
    });
    signal->raise();
  });
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 5; }));
  // The next file has the same number; it is another one.
  signal = std::make_unique<Signal>();
  runtime_->post([&] {
    watch = *runtime_->on_readable(signal->fd(), [&] {
      signal->clear();
      ran = 9;
    });
  });
  signal->raise();
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 9; }));
  runtime_->post([&] { watch.reset(); });
  ASSERT_TRUE(settle(*runtime_));
}

TEST_P(RuntimeTest, WatchMayBeEndedByAnotherThreadAndItsNumberBeUsedAgain) {
  for (int i = 1; i <= 50; ++i) {
    const Signal signal;
    std::atomic<bool> seen{false};
    auto watch = runtime_->on_readable(signal.fd(), [&signal, &seen] {
      signal.clear();
      seen = true;
    });
    ASSERT_TRUE(watch) << watch.error().message;
    signal.raise();
    ASSERT_TRUE(drive_until(*runtime_, [&] { return seen.load(); })) << i;
    // Not where it should be destroyed. The loop must have seen it before the descriptor goes.
    watch->reset();
    ASSERT_TRUE(settle(*runtime_));
  }
}

TEST_P(RuntimeTest, DescriptorThatCannotBeWatchedIsRefusedWithItsNumber) {
  const test::TempDir folder;
  const int file = ::open(folder.write("plain", "text").c_str(), O_RDONLY | O_CLOEXEC);
  const Signal twice;
  auto first = runtime_->on_readable(twice.fd(), [] {});
  ASSERT_TRUE(first);
  for (const int fd : {-1, 9999, file, twice.fd()}) {
    const auto elsewhere = runtime_->on_readable(fd, [] {});
    ASSERT_FALSE(elsewhere) << fd;
    EXPECT_EQ(elsewhere.error().code, Errc::unavailable);
    EXPECT_THAT(elsewhere.error().message, HasSubstr("descriptor " + std::to_string(fd)));
    runtime_->post([&] { EXPECT_FALSE(runtime_->on_readable(fd, [] {})) << fd; });
    ASSERT_TRUE(settle(*runtime_));
  }
  ::close(file);
  runtime_->post([&] { first->reset(); });
  ASSERT_TRUE(settle(*runtime_));
}

TEST_P(RuntimeTest, WatchingADescriptorDoesNotMakeItNonBlocking) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  auto watch = runtime_->on_readable(ends[0], [] {});
  ASSERT_TRUE(watch);
  ASSERT_TRUE(settle(*runtime_));
  EXPECT_EQ(::fcntl(ends[0], F_GETFL) & O_NONBLOCK, 0);
  runtime_->post([&] { watch->reset(); });
  ASSERT_TRUE(settle(*runtime_));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_P(RuntimeTest, ErrorOnADescriptorIsReportedAgainAndAgainLikeData) {
  // The write end of a pipe without a reader is in error, and stays so.
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[0]);
  std::atomic<int> ran{0};
  std::unique_ptr<Executor::Handle> watch;
  runtime_->post([&] {
    watch = *runtime_->on_readable(ends[1], [&] {
      if (ran == 2) watch.reset();
      ++ran;
    });
  });
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 3; }));
  ::close(ends[1]);
}

TEST_P(RuntimeTest, BlockingTasksRunOffTheLoopOrInsidePoll) {
  std::thread::id loop;
  runtime_->post([&] { loop = std::this_thread::get_id(); });
  ASSERT_TRUE(settle(*runtime_));
  std::atomic<bool> done{false};
  std::atomic<bool> on_loop{false};
  runtime_->run_blocking([&] {
    on_loop = std::this_thread::get_id() == loop;
    done = true;
  });
  if (!library()) {
    EXPECT_FALSE(done) << "not within the call";
  }
  EXPECT_TRUE(drive_until(*runtime_, [&] { return done.load(); }));
  EXPECT_EQ(on_loop, !library());
}

std::vector<const char*> reported;
void report(const char* what) noexcept { reported.push_back(what); }

TEST_P(RuntimeTest, ExceptionOfACallbackIsReportedAndTheNextCallbackRuns) {
  reported.clear();
  runtime_ = new_runtime({.threads = GetParam(), .callback_threads = 1, .on_exception = report});
  static const char* const kText = "the user's own";
  struct Thrown : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return kText; }
  };
  std::atomic<bool> ran{false};
  runtime_->call_back([] { throw Thrown(); });
  runtime_->call_back([] { throw 5; });
  runtime_->call_back([&] { ran = true; });
  ASSERT_TRUE(drive_until(*runtime_, [&] { return ran.load(); }));
  EXPECT_THAT(reported,
              testing::ElementsAre(testing::StrEq(kText), testing::StrEq("not a std::exception")));
}

TEST_P(RuntimeTest, ExceptionOfACallbackIsPrintedIfNobodyAskedForIt) {
  testing::internal::CaptureStderr();
  std::atomic<bool> ran{false};
  runtime_ = new_runtime({.threads = GetParam(), .callback_threads = 1});
  runtime_->call_back([] { throw std::runtime_error("out of paper"); });
  runtime_->call_back([&] { ran = true; });
  ASSERT_TRUE(drive_until(*runtime_, [&] { return ran.load(); }));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tenure: an exception left a callback: out of paper\n");
}

TEST_P(RuntimeTest, SeedDecidesTheRandomStreamAndZeroMeansAnyOther) {
  const auto draw = [](std::uint64_t seed) {
    const auto runtime = new_runtime({.threads = GetParam(), .seed = seed});
    return std::vector{runtime->random(), runtime->random()};
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7), draw(8));
  EXPECT_NE(draw(0), draw(0));
}

TEST(RuntimeOptions, NumbersOfThreadsAreCheckedAndNamed) {
  for (const std::size_t bad : {std::size_t{0}, std::size_t{65}, std::size_t{1'000'000}}) {
    const auto workers = Runtime::create({.worker_threads = bad});
    ASSERT_FALSE(workers);
    EXPECT_EQ(workers.error().code, Errc::invalid_argument);
    EXPECT_THAT(workers.error().message, HasSubstr("worker_threads is " + std::to_string(bad)));
    const auto callbacks = Runtime::create({.callback_threads = bad});
    ASSERT_FALSE(callbacks);
    EXPECT_THAT(callbacks.error().message, HasSubstr("callback_threads is " + std::to_string(bad)));
  }
  EXPECT_TRUE(Runtime::create({.worker_threads = 64, .callback_threads = 64}));
}

TEST(RuntimeOptions, ClockIsTheMachinesUnlessAnotherIsGiven) {
  EXPECT_EQ(&new_runtime()->clock(), &system_clock());
}

TEST(RuntimeOptions, ProcessWithoutDescriptorsGetsAnErrorAndKeepsNone) {
  // All the numbers below the limit are taken, one after the other given back.
  std::vector<int> all;
  for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0;
       fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
    all.push_back(fd);
  }
  ASSERT_FALSE(all.empty());
  bool made = false;
  std::size_t given_back = 0;
  while (!made && !all.empty()) {
    const auto runtime = Runtime::create({.threads = Threads::caller});
    made = runtime.has_value();
    if (!made) {
      EXPECT_EQ(runtime.error().code, Errc::unavailable);
    }
    ::close(all.back());
    all.pop_back();
    ++given_back;
  }
  for (const int fd : all) ::close(fd);
  EXPECT_TRUE(made);
  EXPECT_LT(given_back, 20U);
}

}  // namespace
}  // namespace tenure
