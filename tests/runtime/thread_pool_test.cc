// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include "tests/support/eventually.h"

#include <atomic>
#include <csignal>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenure::runtime {
namespace {

using std::chrono::milliseconds;
using test::eventually;

// A door that tasks stand at until it is opened.
class Door {
 public:
  void open() { opened_.set_value(); }
  void pass() {
    ++waiting_;
    future_.wait();
  }
  [[nodiscard]] int waiting() const { return waiting_.load(); }

 private:
  std::promise<void> opened_;
  std::shared_future<void> future_ = opened_.get_future().share();
  std::atomic<int> waiting_{0};
};

// What a task of the pool uses must outlive it.
[[nodiscard]] std::size_t finish(ThreadPool& pool) {
  pool.end();
  return pool.join_until(real_time_after(std::chrono::seconds(20)));
}

TEST(ThreadPool, StartsThreadsOnlyAsTheyAreNeededAndNeverMoreThanTheMost) {
  ThreadPool pool("test", 3);
  ASSERT_TRUE(pool.start(nullptr));
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<int> ran{0};
  const auto note = [&] {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  };
  for (int i = 1; i <= 100; ++i) {
    pool.run([&] { note(), ++ran; });
    ASSERT_TRUE(eventually([&] { return ran == i; }));
  }
  // A task may be handed over while the thread of the former is not quite back.
  EXPECT_LE(seen.size(), 3U);
  const auto before = seen.size();

  Door door;
  for (int i = 0; i < 10; ++i) pool.run([&] { note(), door.pass(); });
  ASSERT_TRUE(eventually([&] { return door.waiting() == 3; }));
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(seen.size(), 3U) << "before: " << before;
  }
  door.open();
  ASSERT_TRUE(eventually([&] { return door.waiting() == 10; }));
  EXPECT_EQ(finish(pool), 0U);
  EXPECT_EQ(seen.size(), 3U);
}

TEST(ThreadPool, BusyThreadDoesNotKeepATaskWaitingWhileThereIsRoom) {
  ThreadPool pool("test", 2);
  ASSERT_TRUE(pool.start(nullptr));
  Door door;
  pool.run([&] { door.pass(); });
  ASSERT_TRUE(eventually([&] { return door.waiting() == 1; }));
  std::atomic<bool> ran{false};
  pool.run([&] { ran = true; });
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
  door.open();
  EXPECT_EQ(finish(pool), 0U);
}

TEST(ThreadPool, TasksOfOneThreadRunInOrder) {
  ThreadPool pool("test", 1);
  ASSERT_TRUE(pool.start(nullptr));
  std::vector<int> order;
  std::atomic<bool> done{false};
  for (int i = 0; i < 100; ++i) pool.run([&order, i] { order.push_back(i); });
  pool.run([&] { done = true; });
  ASSERT_TRUE(eventually([&] { return done.load(); }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order.at(static_cast<std::size_t>(i)), i);
  EXPECT_EQ(finish(pool), 0U);
}

TEST(ThreadPool, ThreadsAreNamedAndTakeNoSignalButThoseOfFaults) {
  ThreadPool pool("tenure-test", 1);
  ASSERT_TRUE(pool.start(nullptr));
  std::promise<std::pair<std::string, sigset_t>> seen;
  pool.run([&seen] {
    char name[16] = {};
    sigset_t blocked;
    ::pthread_getname_np(::pthread_self(), name, sizeof name);
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    seen.set_value({name, blocked});
  });
  const auto [name, blocked] = seen.get_future().get();
  EXPECT_EQ(name, "tenure-test");
  for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGCHLD, SIGPIPE, SIGALRM}) {
    EXPECT_EQ(sigismember(&blocked, one), 1) << one;
  }
  for (const int one : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    EXPECT_EQ(sigismember(&blocked, one), 0) << one;
  }
  EXPECT_EQ(finish(pool), 0U);
  sigset_t ours;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &ours);
  EXPECT_EQ(sigismember(&ours, SIGTERM), 0) << "the mask of the creating thread is kept";
}

TEST(ThreadPool, QueuedTasksAreDestroyedUnrunAtTheEndAndLaterOnesToo) {
  ThreadPool pool("test", 1);
  ASSERT_TRUE(pool.start(nullptr));
  Door door;
  pool.run([&] { door.pass(); });
  ASSERT_TRUE(eventually([&] { return door.waiting() == 1; }));
  const auto owned = std::make_shared<int>(1);
  pool.run([owned] { ADD_FAILURE(); });
  pool.end();
  EXPECT_EQ(owned.use_count(), 1);
  pool.run([owned] { ADD_FAILURE(); });
  EXPECT_EQ(owned.use_count(), 1);
  door.open();
  EXPECT_EQ(finish(pool), 0U);
}

TEST(ThreadPool, ThreadInATaskThatDoesNotReturnIsAbandonedAtTheLimitWithWhatItNeeds) {
  auto door = std::make_shared<Door>();
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = kept;
  {
    ThreadPool pool("test", 2);
    ASSERT_TRUE(pool.start(std::move(kept)));
    pool.run([door] { door->pass(); });
    ASSERT_TRUE(eventually([&] { return door->waiting() == 1; }));
    pool.end();
    const test::Stopwatch watch;
    EXPECT_EQ(pool.join_until(real_time_after(milliseconds(50))), 1U);
    EXPECT_GE(watch.elapsed(), milliseconds(50));
    EXPECT_LT(watch.elapsed(), std::chrono::seconds(10));
  }
  EXPECT_FALSE(watched.expired());
  door->open();
  EXPECT_TRUE(eventually([&] { return watched.expired(); }));
}

TEST(ThreadPool, MayBeEndedByOneOfItsOwnThreads) {
  auto pool = std::make_shared<ThreadPool>("test", 2);
  ASSERT_TRUE(pool->start(nullptr));
  std::promise<std::size_t> abandoned;
  const test::Stopwatch watch;
  pool->run([&] { abandoned.set_value(finish(*pool)); });
  EXPECT_EQ(abandoned.get_future().get(), 1U);
  EXPECT_LT(watch.elapsed(), std::chrono::seconds(10)) << "it does not wait for itself";
}

}  // namespace
}  // namespace tenure::runtime
