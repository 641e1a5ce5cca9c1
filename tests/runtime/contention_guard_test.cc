// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/contention_guard.h>
#include <tenure/testkit/manual_clock.h>
#include <tenure/writer_lease.h>

#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenure {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class ContentionGuardTest : public testing::Test {
 protected:
  ContentionGuard make() {
    auto guard = ContentionGuard::create(
        {.same = [](std::string_view a, std::string_view b) { return meaning(a) == meaning(b); },
         .on_contended =
             [this](std::string_view key) {
               const std::lock_guard lock(mutex_);
               reported_.emplace_back(key);
             },
         .clock = &clock_});
    EXPECT_TRUE(guard.has_value());
    return std::move(*guard);
  }
  // What matters comes before the '@'; behind it is a timestamp.
  static std::string_view meaning(std::string_view value) {
    return value.substr(0, value.find('@'));
  }
  void fight(const std::string& key) {
    for (int i = 0; i < 5; ++i) {
      guard_.wrote(key, "ours");
      guard_.observed(key, "ours");
      guard_.observed(key, "theirs");
    }
  }

  testkit::ManualClock clock_;
  std::mutex mutex_;
  std::vector<std::string> reported_;
  ContentionGuard guard_ = make();
};

TEST_F(ContentionGuardTest, FiveForeignRewritesAreReportedOnceAndStopTheKeyOnly) {
  for (int i = 0; i < 4; ++i) {
    guard_.wrote("a", "ours");
    EXPECT_FALSE(guard_.observed("a", "theirs"));
    EXPECT_TRUE(guard_.may_write("a", "ours"));
  }
  EXPECT_FALSE(guard_.observed("a", "theirs"));
  EXPECT_FALSE(guard_.observed("a", "theirs"));
  EXPECT_FALSE(guard_.may_write("a", "ours"));
  EXPECT_TRUE(guard_.may_write("b", "ours"));
  EXPECT_EQ(reported_, std::vector<std::string>{"a"});
  EXPECT_EQ(guard_.contended(), std::vector<std::string>{"a"});
  EXPECT_TRUE(guard_.is_contended("a"));
  EXPECT_FALSE(guard_.is_contended("b"));
}

TEST_F(ContentionGuardTest, OnlyMeaningfulFieldsAreCompared) {
  guard_.wrote("a", "ours@1");
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(guard_.observed("a", "ours@" + std::to_string(i)));
  }
  EXPECT_TRUE(guard_.may_write("a", "ours@99"));
  fight("b");
  EXPECT_FALSE(guard_.may_write("b", "ours@100")) << "a new timestamp is no new wish";
}

TEST_F(ContentionGuardTest, ARealChangeOfOurOwnWishLetsWorkGoOn) {
  fight("a");
  EXPECT_FALSE(guard_.may_write("a", "ours"));
  EXPECT_TRUE(guard_.may_write("a", "something else"));
  EXPECT_FALSE(guard_.is_contended("a"));
}

TEST_F(ContentionGuardTest, TheOthersSilenceLetsWorkGoOn) {
  fight("a");
  clock_.advance(minutes(5));
  EXPECT_TRUE(guard_.may_write("a", "ours"));
}

TEST_F(ContentionGuardTest, ValuesOfKeysNobodyHereWantsAreNotCounted) {
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(guard_.observed("a", "theirs"));
  EXPECT_TRUE(guard_.may_write("a", "ours"));
  EXPECT_EQ(guard_.size(), 1U);
}

TEST_F(ContentionGuardTest, ForgetsAfterAQuietTime) {
  for (int i = 0; i < 100; ++i) guard_.wrote("k" + std::to_string(i), "ours");
  fight("a");
  EXPECT_EQ(guard_.size(), 101U);
  clock_.advance(minutes(5));
  EXPECT_EQ(guard_.size(), 1U) << "the contended one is still on trial";
  clock_.advance(minutes(10));
  EXPECT_EQ(guard_.size(), 0U);
}

TEST_F(ContentionGuardTest, ForgetDropsAKey) {
  fight("a");
  guard_.forget("a");
  EXPECT_TRUE(guard_.may_write("a", "ours"));
}

TEST_F(ContentionGuardTest, RT05_GuardedWorkOfAContendedKeyWaitsAndIsNotLost) {
  auto lease = WriterLease::create({.lease = seconds(60), .workers = 0, .clock = &clock_});
  ASSERT_TRUE(lease);
  int writes = 0;
  const auto submit = [&] {
    ASSERT_TRUE(lease->try_work("a", guard_.guard("a", "ours", [&] {
      ++writes;
      return WorkResult{WorkEffect::extend};
    })));
  };
  for (int i = 0; i < 100; ++i) {
    submit();
    lease->poll();
    guard_.observed("a", "theirs");
  }
  EXPECT_EQ(writes, 5);
  EXPECT_EQ(lease->size(), 1U) << "kept, not dropped";
  for (int i = 0; i < 300; ++i) {
    clock_.advance(seconds(1));
    lease->poll();
  }
  EXPECT_EQ(writes, 6) << "the others fell silent";
  EXPECT_EQ(lease->size(), 0U);
}

TEST_F(ContentionGuardTest, GuardedWorkMayOutliveTheGuard) {
  Work work = guard_.guard("a", "ours", [] { return WorkResult{WorkEffect::extend}; });
  guard_ = make();
  EXPECT_EQ(work(), WorkResult{WorkEffect::extend});
}

TEST_F(ContentionGuardTest, ManyThreadsMayTellAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string key = "k" + std::to_string(i % 7);
        guard_.wrote(key, "ours" + std::to_string(t));
        guard_.observed(key, "theirs");
        (void)guard_.is_contended(key);
        if (i % 100 == 0) guard_.forget(key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(guard_.size(), 7U);
}

TEST(ContentionGuardOptionsTest, EachBadValueIsRefusedByName) {
  const std::pair<const char*, ContentionGuardOptions> cases[] = {
      {"rewrites", {.rewrites = 0}},     {"rewrites", {.rewrites = 1001}},
      {"trials", {.trials = 1001}},      {"window", {.window = Duration::zero()}},
      {"quiet", {.quiet = seconds(-1)}},
  };
  for (const auto& [name, options] : cases) {
    const auto guard = ContentionGuard::create(options);
    ASSERT_FALSE(guard) << name;
    EXPECT_EQ(guard.error().code, Errc::invalid_argument);
    EXPECT_EQ(guard.error().message.find(std::string(name) + ": is "), 0U);
  }
}

}  // namespace
}  // namespace tenure
