// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// How a runtime ends, and what does not disturb it before that: callbacks that never return, forks,
// destruction from its own threads.
#include <tenure/runtime.h>
#include <tenure/testkit/manual_clock.h>

#include "runtime/engine.h"
#include "tests/runtime/child.h"
#include "tests/runtime/drive.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tenure {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::drive_until;
using test::eventually;
using test::in_child;
using test::new_runtime;
using test::settle;
using test::Signal;

// Stands in code of a user until it is opened; shared, because it may outlive the test's body.
struct Door {
  std::promise<void> opened;
  std::shared_future<void> future = opened.get_future().share();
  std::atomic<int> waiting{0};
  void pass() {
    ++waiting;
    future.wait();
  }
};

std::map<std::string, int> threads_by_name() {
  std::map<std::string, int> names;
  DIR* const folder = ::opendir("/proc/self/task");
  while (const dirent* entry = ::readdir(folder)) {
    std::ifstream file(std::string("/proc/self/task/") + entry->d_name + "/comm");
    std::string name;
    if (std::getline(file, name)) ++names[name];
  }
  ::closedir(folder);
  return names;
}

std::vector<int> open_descriptors() {
  std::vector<int> fds;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != ::dirfd(folder)) fds.push_back(fd);
  }
  ::closedir(folder);
  std::sort(fds.begin(), fds.end());
  return fds;
}

// Those that the test program inherited: not ours.
const std::vector<int> kOpenAtStart = open_descriptors();

class RuntimeEndTest : public testing::TestWithParam<Threads> {
 protected:
  testkit::ManualClock clock_;
  std::unique_ptr<Runtime> runtime_ = new_runtime({.threads = GetParam(), .clock = &clock_});
};

INSTANTIATE_TEST_SUITE_P(Modes, RuntimeEndTest, testing::Values(Threads::library, Threads::caller),
                         test::name_of);

TEST_P(RuntimeEndTest, WhatIsQueuedIsDestroyedUnrun) {
  const auto owned = std::make_shared<int>(1);
  const Signal signal;
  const auto timer = runtime_->at(clock_.now() + seconds(1), [owned] { ADD_FAILURE(); });
  const auto watch = runtime_->on_readable(signal.fd(), [owned] { ADD_FAILURE(); });
  const auto engine = runtime::engine_of(*runtime_);
  std::thread opener;
  if (GetParam() == Threads::library) {
    // The loop is kept busy until it has been ended, so that the posted task is still queued then.
    auto door = std::make_shared<Door>();
    runtime_->post([engine, door, owned] {
      // These two are of one round.
      engine->post([door] { door->pass(); });
      engine->post([owned] { ADD_FAILURE(); });
    });
    ASSERT_TRUE(eventually([&] { return door->waiting == 1; }));
    opener = std::thread([door, engine] {
      EXPECT_TRUE(eventually([&engine] {
        const auto probe = std::make_shared<int>(1);
        engine->post([probe] {});
        return probe.use_count() == 1;
      }));
      door->opened.set_value();
    });
  }
  runtime_->post([owned] { ADD_FAILURE(); });
  if (GetParam() == Threads::caller) {
    runtime_->run_blocking([owned] { ADD_FAILURE(); });
    runtime_->call_back([owned] { ADD_FAILURE(); });
  }
  runtime_.reset();
  if (opener.joinable()) opener.join();
  EXPECT_EQ(owned.use_count(), 1);
  engine->post([owned] { ADD_FAILURE(); });
  engine->run_blocking([owned] { ADD_FAILURE(); });
  engine->call_back([owned] { ADD_FAILURE(); });
  const auto late = engine->at(kLongAgo, [owned] { ADD_FAILURE(); });
  EXPECT_EQ(engine->on_readable(signal.fd(), [owned] { ADD_FAILURE(); }).error().code,
            Errc::closed);
  EXPECT_EQ(engine->poll(), 0U);
  EXPECT_EQ(owned.use_count(), 1);
}

TEST_P(RuntimeEndTest, EverythingIsGivenBack) {
  runtime_.reset();
  // The first loop of a process makes libuv keep two descriptors for itself.
  const auto fds = open_descriptors();
  const auto threads = threads_by_name();
  for (int i = 0; i < 10; ++i) {
    const auto runtime = new_runtime({.threads = GetParam()});
    std::atomic<int> ran{0};
    runtime->run_blocking([&] { ++ran; });
    runtime->call_back([&] { ++ran; });
    ASSERT_TRUE(drive_until(*runtime, [&] { return ran == 2; }));
  }
  EXPECT_EQ(open_descriptors(), fds);
  EXPECT_TRUE(eventually([&] { return threads_by_name() == threads; }));
}

TEST_P(RuntimeEndTest, NoDescriptorIsInheritedByCommands) {
  const Signal signal;
  auto watch = runtime_->on_readable(signal.fd(), [] {});
  ASSERT_TRUE(settle(*runtime_));
  int ours = 0;
  for (const int fd : open_descriptors()) {
    if (std::binary_search(kOpenAtStart.begin(), kOpenAtStart.end(), fd)) continue;
    ++ours;
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
  }
  EXPECT_GE(ours, 4);
  runtime_->post([&] { watch->reset(); });
  ASSERT_TRUE(settle(*runtime_));
}

TEST_P(RuntimeEndTest, TaskThatIsDestroyedAtTheEndMayStillUseTheRuntimesParts) {
  struct Toucher {
    explicit Toucher(std::shared_ptr<runtime::Engine> engine_in) : engine(std::move(engine_in)) {}
    std::shared_ptr<runtime::Engine> engine;
    ~Toucher() {
      engine->post([] { ADD_FAILURE(); });
      (void)engine->at(kLongAgo, [] { ADD_FAILURE(); });
    }
  };
  const auto timer = runtime_->at(
      kNever - Duration(1), [held = std::make_shared<Toucher>(runtime::engine_of(*runtime_))] {});
  runtime_.reset();
}

TEST_P(RuntimeEndTest, LK03_ForkedChildCanDoNothingAndDisturbsNothing) {
  std::atomic<int> ran{0};
  const Signal signal;
  auto timer = runtime_->at(clock_.now() + seconds(1), [&] { ++ran; });
  auto watch = runtime_->on_readable(signal.fd(), [&] {
    signal.clear();
    ++ran;
  });
  ASSERT_TRUE(settle(*runtime_));
  const int result = in_child([&] {
    runtime_->post([] { std::_Exit(10); });
    runtime_->run_blocking([] { std::_Exit(11); });
    runtime_->call_back([] { std::_Exit(12); });
    const auto at = runtime_->at(kLongAgo, [] { std::_Exit(13); });
    const auto elsewhere = runtime_->on_readable(0, [] { std::_Exit(14); });
    if (elsewhere || elsewhere.error().code != Errc::closed) return 1;
    if (runtime_->poll() != 0) return 2;
    timer.reset();
    watch->reset();
    runtime_.reset();
    return 0;
  });
  EXPECT_EQ(result, 0);
  signal.raise();
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 1; }));
  clock_.advance(seconds(1));
  EXPECT_TRUE(drive_until(*runtime_, [&] { return ran == 2; }));
  runtime_->post([&] { watch->reset(); });
  ASSERT_TRUE(settle(*runtime_));
}

TEST_P(RuntimeEndTest, LK03_ForkedChildMayHaveARuntimeOfItsOwn) {
  ASSERT_TRUE(settle(*runtime_));
  // Threads after a fork from a process with threads are more than ThreadSanitizer can follow.
  const int result = in_child([] {
    const auto own = new_runtime({.threads = Threads::caller});
    bool ran = false;
    own->post([&] { ran = true; });
    return own->poll() == 1 && ran ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
}

TEST(RuntimeThreads, AreFixedInNumberAndNamedAndStartedAsTheyAreNeeded) {
  const auto before = threads_by_name();
  const auto count = [&before](const char* name) {
    auto now = threads_by_name();
    const auto former = before.find(name);
    return now[name] - (former == before.end() ? 0 : former->second);
  };
  auto door = std::make_shared<Door>();
  const auto runtime = new_runtime({.worker_threads = 3, .callback_threads = 2});
  EXPECT_TRUE(eventually([&] { return count("tenure-loop") == 1; }));
  EXPECT_TRUE(eventually([&] { return count("tenure-work") == 1; }));
  EXPECT_TRUE(eventually([&] { return count("tenure-call") == 1; }));
  std::atomic<int> ran{0};
  runtime->run_blocking([&] { ++ran; });
  runtime->call_back([&] { ++ran; });
  EXPECT_TRUE(eventually([&] { return ran == 2; }));
  EXPECT_EQ(count("tenure-work"), 1);
  EXPECT_EQ(count("tenure-call"), 1);
  for (int i = 0; i < 50; ++i) {
    runtime->run_blocking([door] { door->pass(); });
    runtime->call_back([door] { door->pass(); });
  }
  EXPECT_TRUE(eventually([&] { return door->waiting == 5; }));
  EXPECT_EQ(count("tenure-loop"), 1);
  EXPECT_EQ(count("tenure-work"), 3);
  EXPECT_EQ(count("tenure-call"), 2);
  door->opened.set_value();
  EXPECT_TRUE(eventually([&] { return door->waiting == 100; }));
  EXPECT_EQ(count("tenure-work"), 3);
  EXPECT_EQ(count("tenure-call"), 2);
}

TEST(RuntimeThreads, LK02b_CallbacksThatNeverReturnDelayNeitherLoopNorWorkersNorTimers) {
  testkit::ManualClock clock;
  auto door = std::make_shared<Door>();
  const auto runtime = new_runtime({.clock = &clock, .callback_threads = 2});
  std::atomic<int> late{0};
  for (int i = 0; i < 10; ++i) runtime->call_back([door] { door->pass(); });
  runtime->call_back([&late] { ++late; });
  ASSERT_TRUE(eventually([&] { return door->waiting == 2; }));
  std::atomic<int> ran{0};
  runtime->post([&] { ++ran; });
  runtime->run_blocking([&] { ++ran; });
  const auto timer = runtime->at(clock.now() + seconds(1), [&] { ++ran; });
  clock.advance(seconds(1));
  EXPECT_TRUE(eventually([&] { return ran == 3; }));
  EXPECT_EQ(late, 0) << "later callbacks wait";
  door->opened.set_value();
  EXPECT_TRUE(eventually([&] { return late == 1; }));
}

TEST(RuntimeThreads, BlockingTasksRunSideBySide) {
  const auto runtime = new_runtime({.worker_threads = 2});
  std::promise<void> first;
  std::atomic<bool> met{false};
  runtime->run_blocking([&, other = first.get_future().share()] {
    other.wait();
    met = true;
  });
  runtime->run_blocking([&] { first.set_value(); });
  EXPECT_TRUE(eventually([&] { return met.load(); }));
}

TEST(RuntimeThreads, LK01_CallbackThatNeverReturnsIsAbandonedAfterASecond) {
  testkit::ManualClock clock;
  auto door = std::make_shared<Door>();
  auto runtime = new_runtime({.clock = &clock});
  std::promise<bool> touched;
  runtime->call_back([door, engine = runtime::engine_of(*runtime), &touched] {
    door->pass();
    // As an election's end of work would, long after the runtime has gone.
    engine->post([] { ADD_FAILURE(); });
    engine->call_back([] { ADD_FAILURE(); });
    touched.set_value(engine->ended());
  });
  ASSERT_TRUE(eventually([&] { return door->waiting == 1; }));
  const test::Stopwatch watch;
  runtime.reset();
  EXPECT_GE(watch.elapsed(), milliseconds(900));
  EXPECT_LT(watch.elapsed(), seconds(10));
  door->opened.set_value();
  EXPECT_TRUE(touched.get_future().get());
}

TEST(RuntimeThreads, LK01_BlockingTaskThatHangsIsAbandonedInTheSameSecond) {
  auto door = std::make_shared<Door>();
  auto done = std::make_shared<std::promise<void>>();
  auto runtime = new_runtime();
  runtime->run_blocking([door, done, engine = runtime::engine_of(*runtime)] {
    door->pass();
    engine->post([] { ADD_FAILURE(); });
    done->set_value();
  });
  runtime->call_back([door] { door->pass(); });
  ASSERT_TRUE(eventually([&] { return door->waiting == 2; }));
  const test::Stopwatch watch;
  runtime.reset();
  EXPECT_LT(watch.elapsed(), milliseconds(1900)) << "one second for all of them";
  door->opened.set_value();
  done->get_future().wait();
}

TEST(RuntimeThreads, IdleRuntimeEndsAtOnce) {
  auto runtime = new_runtime();
  std::atomic<int> ran{0};
  runtime->run_blocking([&] { ++ran; });
  runtime->call_back([&] { ++ran; });
  ASSERT_TRUE(eventually([&] { return ran == 2; }));
  const test::Stopwatch watch;
  runtime.reset();
  EXPECT_LT(watch.elapsed(), milliseconds(500));
}

TEST(RuntimeThreads, LK01_RuntimeMayBeDestroyedOnAnyOfItsOwnThreads) {
  for (const char where : {'l', 'w', 'c'}) {
    auto runtime = new_runtime();
    const std::weak_ptr<runtime::Engine> engine = runtime::engine_of(*runtime);
    auto destroyed = std::make_shared<std::promise<void>>();
    Runtime& there = *runtime;
    auto destroy = [destroyed,
                    owned = std::make_shared<std::unique_ptr<Runtime>>(std::move(runtime))] {
      owned->reset();
      destroyed->set_value();
    };
    if (where == 'l') there.post(std::move(destroy));
    if (where == 'w') there.run_blocking(std::move(destroy));
    if (where == 'c') there.call_back(std::move(destroy));
    ASSERT_EQ(destroyed->get_future().wait_for(seconds(20)), std::future_status::ready) << where;
    EXPECT_TRUE(eventually([&] { return engine.expired(); })) << where;
  }
}

}  // namespace
}  // namespace tenure
