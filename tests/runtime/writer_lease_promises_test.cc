// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Promises that only show between threads, in descriptors, in memory, or with a clock that lies.
#include "tests/support/eventually.h"
#include "writer_lease_contract.h"
#include "writer_lease_make.h"

#include <tenure/writer_lease.h>

#include <atomic>
#include <cstddef>
#include <gtest/gtest.h>
#include <latch>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tenure::test {
namespace {

using std::chrono::minutes;

using WriterLeaseDescriptor = WriterLeaseContract;

TEST_F(WriterLeaseDescriptor, IsReadableWhenWorkIsSubmittedUntilItHasRun) {
  EXPECT_FALSE(readable(lease_.fd()));
  submit("a", {WorkEffect::extend});
  EXPECT_TRUE(readable(lease_.fd()));
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_FALSE(readable(lease_.fd()));
}

TEST_F(WriterLeaseDescriptor, IsReadableWhenTheTimeOfWorkHasCome) {
  follow();
  submit("a", {});
  EXPECT_FALSE(readable(lease_.fd()));
  clock_.advance(milliseconds(40));
  EXPECT_TRUE(readable(lease_.fd()));
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_FALSE(readable(lease_.fd()));
}

TEST_F(WriterLeaseDescriptor, IsReadableAfterExpire) {
  follow_for_a_lease();
  submit("a", {});
  EXPECT_FALSE(readable(lease_.fd()));
  lease_.expire();
  EXPECT_TRUE(readable(lease_.fd()));
}

// A clock that can be set back, which none should be.
class SetBackClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override { return inner_.now() - back_; }
  [[nodiscard]] WallTime wall_now() const noexcept override { return inner_.wall_now(); }
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override { return inner_.make_timer(); }
  void set_back(Duration by) { back_ = by; }

 private:
  testkit::ManualClock inner_;
  Duration back_{};
};

// Threads read the clock and come in later: the machine must not be told of a time before another.
TEST(WriterLeaseTime, NeverGoesBackForTheMachine) {
  SetBackClock clock;
  WriterLease lease = make({.backoff = {.jitter = 0}, .workers = 0, .clock = &clock});
  ASSERT_TRUE(lease.try_work("first", [] { return WorkResult{WorkEffect::release}; }));
  ASSERT_EQ(lease.poll(), 1U);
  const Instant then = clock.now();
  clock.set_back(seconds(10));
  ASSERT_TRUE(lease.try_work("a", extend));
  EXPECT_EQ(lease.next_due(), then + milliseconds(40));
  EXPECT_TRUE(lease.extend("a"));
  EXPECT_EQ(lease.status().expires, then + milliseconds(80));
}

TEST(WriterLeaseThreadsPromise, ExpireWakesAFollowerAtOnceAlthoughTheClockStandsStill) {
  testkit::ManualClock clock;
  WriterLease lease = make({.backoff = {.first = minutes(1)}, .clock = &clock});
  ASSERT_TRUE(lease.try_work("first", [] { return WorkResult{WorkEffect::release}; }));
  ASSERT_EQ(lease.wait(), Result<bool>(false));
  std::atomic<bool> ran{false};
  ASSERT_TRUE(lease.try_work("a", [&] {
    ran = true;
    return extend();
  }));
  EXPECT_FALSE(eventually([&] { return ran.load(); }, milliseconds(20)));
  const Stopwatch watch;
  lease.expire();
  EXPECT_TRUE(eventually([&] { return ran.load(); }));
  EXPECT_LT(watch.elapsed(), seconds(2));
}

TEST(WriterLeaseThreadsPromise, TheObserverIsCalledByOneThreadAtATime) {
  WriterLease lease = make({.workers = 2});
  std::latch let_go(1);
  std::atomic<int> calls{0};
  std::mutex mutex;
  std::vector<WriterState> told;
  lease.on_state_change([&](WriterState state) {
    if (++calls == 1) let_go.wait();
    const std::lock_guard guard(mutex);
    told.push_back(state);
  });
  ASSERT_TRUE(lease.try_work("a", extend));
  ASSERT_TRUE(eventually([&] { return calls == 1; }));
  ASSERT_TRUE(lease.try_work("b", [] { return WorkResult{WorkEffect::release}; }));
  ASSERT_TRUE(eventually([&] { return lease.state() == WriterState::following; }));
  EXPECT_FALSE(eventually([&] { return calls > 1; }, milliseconds(20)));
  let_go.count_down();
  EXPECT_TRUE(eventually([&] { return calls == 2; }));
  EXPECT_TRUE(lease.stop(seconds(20)));
  EXPECT_EQ(told, (std::vector{WriterState::leading, WriterState::following}));
}

// At most half of what the Go original takes, also for what is left of many; and nothing after.
TEST(WriterLeaseMemory, IsAtMostHalfOfTheOriginalsAndGoesWithTheKeys) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizers have a heap of their own";
#endif
  constexpr std::size_t kKeys = 200'000;
  testkit::ManualClock clock;
  WriterLease lease = make({.workers = 0, .clock = &clock});
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < kKeys; ++i) keys.push_back("key" + std::to_string(i));
  const auto heap = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const std::size_t before = heap();
  for (const std::string& key : keys) ASSERT_TRUE(lease.try_work(key, extend));
  EXPECT_LE(heap() - before, 162 * kKeys);
  for (std::size_t i = 0; i < kKeys; ++i) {
    if (i % 64 != 0) lease.extend(keys[i]);
  }
  EXPECT_LE(heap() - before, 1000 * lease.size()) << "the worst case: far apart from one another";
  for (const std::string& key : keys) lease.extend(key);
  EXPECT_EQ(lease.size(), 0U);
  EXPECT_LE(heap(), before + 30'000) << "a few blocks are kept";
}

}  // namespace
}  // namespace tenure::test
