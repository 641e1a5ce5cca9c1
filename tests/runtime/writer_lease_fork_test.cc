// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// A forked child shares the descriptors of its parent's writer lease, and has none of its threads.
#include "tests/runtime/child.h"
#include "tests/support/eventually.h"

#include <tenure/testkit/manual_clock.h>
#include <tenure/writer_lease.h>

#include <array>
#include <atomic>
#include <ctime>
#include <exception>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tenure {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::eventually;
using test::in_child;

WorkResult extend() { return {WorkEffect::extend}; }

std::optional<WriterLease> make(WriterLeaseOptions options) {
  auto lease = WriterLease::create(std::move(options));
  if (!lease) return std::nullopt;
  return std::optional<WriterLease>(std::move(*lease));
}

// Everything there is, as a child may call it; how many answers were wrong.
int call_all(WriterLease& lease) {
  int wrong = 0;
  const auto expect = [&](bool right) { wrong += right ? 0 : 1; };
  const auto closed = [](const auto& result) {
    return !result.has_value() && result.error().code == Errc::closed;
  };
  expect(closed(lease.try_work("child", extend)));
  expect(!lease.extend("waits") && !lease.remove("waits"));
  const std::array<std::string_view, 1> keys{"waits"};
  expect(lease.extend_all(keys) == 0);
  lease.expire();
  lease.on_state_change([](WriterState) {});
  expect(lease.size() == 0 && lease.poll() == 0 && lease.fd() == -1);
  expect(closed(lease.wait()) && closed(lease.wait_until(seconds(1))));
  expect(closed(lease.stop(seconds(1))));
  expect(lease.state() == WriterState::following && lease.status().pending == 0);
  expect(lease.counters().submitted == 0 && lease.next_due() == kNever);
  return wrong;
}

TEST(WriterLeaseFork, AChildOfAThreadedLeaseIsToldThatItIsClosedAndTheParentWorksOn) {
  for (int i = 0; i < 20; ++i) {
    auto lease = make({.lease = seconds(60), .backoff = {.first = milliseconds(1)}});
    ASSERT_TRUE(lease);
    ASSERT_TRUE(lease->try_work("first", [] { return WorkResult{WorkEffect::release}; }));
    ASSERT_EQ(lease->wait(), Result<bool>(false));
    std::atomic<bool> ran{false};
    ASSERT_TRUE(lease->try_work("waits", [&] {
      ran = true;
      return extend();
    }));
    EXPECT_EQ(in_child([&] {
                const int wrong = call_all(*lease);
                lease.reset();
                return wrong;
              }),
              0);
    EXPECT_TRUE(eventually([&] { return ran.load(); })) << "its timer was left alone";
    std::atomic<int> after{0};
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(lease->try_work("later", [&] {
        ++after;
        return extend();
      }));
      EXPECT_TRUE(eventually([&] { return after > k; }));
    }
    EXPECT_TRUE(lease->stop(seconds(20)));
  }
}

TEST(WriterLeaseFork, AChildThatDestroysItsCopyDoesNotEndTheParentsSleep) {
  auto lease = make({});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->try_work("first", extend));
  ASSERT_EQ(lease->wait(), Result<bool>(true));
  ASSERT_EQ(in_child([&] {
              lease.reset();
              return 0;
            }),
            0);
  const auto cpu = [] { return Duration(std::chrono::nanoseconds(std::clock() * 1000)); };
  const Duration before = cpu();
  EXPECT_FALSE(eventually([&] { return lease->counters().runs > 1; }, milliseconds(60)));
  EXPECT_LT(cpu() - before, milliseconds(40)) << "a worker turns round and round";
}

TEST(WriterLeaseFork, AChildForkedWhileOthersAreInsideDoesNotHang) {
  auto lease = make({});
  ASSERT_TRUE(lease);
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) (void)lease->try_work("busy", extend);
  });
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(in_child([&] {
                alarm(20);
                const int wrong = call_all(*lease);
                lease.reset();
                return wrong;
              }),
              0);
  }
  over = true;
  busy.join();
}

TEST(WriterLeaseFork, ACallerDrivenLeaseOfTheParentKeepsItsDescriptors) {
  testkit::ManualClock clock;
  auto lease = make({.workers = 0, .clock = &clock});
  ASSERT_TRUE(lease);
  ASSERT_TRUE(lease->try_work("a", extend));
  EXPECT_EQ(in_child([&] {
              const int wrong = call_all(*lease);
              lease.reset();
              return wrong;
            }),
            0);
  EXPECT_EQ(lease->poll(), 1U);
}

TEST(WriterLeaseFork, WorkThatForksComesBackInTheChildAndRunsNothingThere) {
  auto lease = make({.workers = 0});
  ASSERT_TRUE(lease);
  pid_t child = -1;
  int second = 0;
  ASSERT_TRUE(lease->try_work("forks", [&] {
    child = fork();
    return extend();
  }));
  ASSERT_TRUE(lease->try_work("second", [&] {
    ++second;
    return extend();
  }));
  lease->poll();
  if (child == 0) _exit(second + call_all(*lease));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(lease->state(), WriterState::leading);
}

// Sanitizers do not expect that a child ends with the only thread it has.
struct EndsTheChildWithItsThread {
  ~EndsTheChildWithItsThread() {
    if (getpid() != parent) _exit(0);
  }
  pid_t parent = getpid();
};

// What others held is held for ever there.
TEST(WriterLeaseFork, AWorkerWhoseWorkForkedEndsInTheChildAlsoIfTheWorkThrows) {
  auto lease = make({.on_exception = [](std::string_view, std::exception_ptr) { _exit(3); }});
  ASSERT_TRUE(lease);
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) (void)lease->try_work("busy", extend);
  });
  for (int round = 0; round < 40; ++round) {
    std::atomic<pid_t> child{-1};
    EXPECT_TRUE(lease->try_work("forks", [&child, throws = round % 2 == 0] {
      thread_local const EndsTheChildWithItsThread end;
      const pid_t forked = fork();
      if (forked == 0) alarm(20);
      child = forked;
      if (throws && forked == 0) throw std::runtime_error("in the child");
      return extend();
    }));
    EXPECT_TRUE(eventually([&] { return child > 0; }));
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  over = true;
  busy.join();
  EXPECT_TRUE(lease->stop(seconds(20)));
}

TEST(WriterLeaseFork, AChildMayMakeALeaseOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer lets no child of several threads start one";
#endif
  auto parents = make({});
  ASSERT_TRUE(parents);
  EXPECT_EQ(in_child([&] {
              auto own = make({});
              if (!own || !own->try_work("a", extend)) return 1;
              if (own->wait() != Result<bool>(true)) return 2;
              return own->stop(seconds(20)) ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace tenure
