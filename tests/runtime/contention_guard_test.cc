// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "contention_guard_fixture.h"

#include <tenure/contention_guard.h>
#include <tenure/writer_lease.h>

#include <cstddef>
#include <gtest/gtest.h>
#include <malloc.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tenure::test {
namespace {

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
  clock_.advance(hours(24) - Duration(1));
  EXPECT_EQ(guard_.size(), 101U);
  clock_.advance(Duration(1));
  EXPECT_EQ(guard_.size(), 0U);
}

TEST_F(ContentionGuardTest, AKeyThatIsFoughtOverKeepsNoOtherFromBeingForgotten) {
  for (int i = 0; i < 20; ++i) {
    fight("hot");
    clock_.advance(hours(23));
  }
  EXPECT_TRUE(guard_.is_contended("hot"));
  for (int i = 0; i < 1000; ++i) guard_.wrote("k" + std::to_string(i), "ours");
  clock_.advance(hours(24));
  EXPECT_EQ(guard_.size(), 1U) << "only the one that is fought over";
  guard_.wrote("hot", "something else");
  clock_.advance(hours(24));
  EXPECT_EQ(guard_.size(), 0U);
}

// Each use looks after a few others, so that nobody need ask for size().
TEST_F(ContentionGuardTest, QuietKeysAreForgottenByTheUseOfOthers) {
  fight("hot");
  for (int i = 0; i < 100; ++i) guard_.wrote("k" + std::to_string(i), "a value long enough");
  clock_.advance(hours(24));
  for (int i = 0; i < 60; ++i) guard_.wrote("used", "ours");
  EXPECT_TRUE(guard_.observed("used", "ours"));
  EXPECT_FALSE(guard_.observed("k99", "a value long enough")) << "nothing is known of it";
}

TEST_F(ContentionGuardTest, ForgettingAndUsingAKeyAgainHoldsNoMemory) {
  const auto use = [this] {
    for (int i = 0; i < 100'000; ++i) {
      guard_.forget("some-long-key-that-allocates-memory");
      (void)guard_.may_write("some-long-key-that-allocates-memory", "ours");
    }
  };
  const std::size_t before = mallinfo2().uordblks;
  use();
  EXPECT_LT(mallinfo2().uordblks, before + 10'000);
}

TEST_F(ContentionGuardTest, GuardedEmptyWorkIsEmpty) {
  EXPECT_FALSE(guard_.guard("a", "ours", Work()));
  EXPECT_EQ(guard_.size(), 0U);
}

TEST_F(ContentionGuardTest, WhatTheCallersFunctionsThrowStaysInside) {
  bool broken = false;
  auto guard = ContentionGuard::create(
      {.rewrites = 1,
       .same = [&](std::string_view a, std::string_view b) -> bool {
         if (broken) throw std::runtime_error("same");
         return a == b;
       },
       .on_contended = [](std::string_view) { throw std::runtime_error("contended"); },
       .clock = &clock_});
  ASSERT_TRUE(guard);
  guard->wrote("a", "ours");
  broken = true;
  testing::internal::CaptureStderr();
  EXPECT_TRUE(guard->observed("a", "ours")) << "all bytes are compared";
  EXPECT_FALSE(guard->observed("a", "theirs"));
  EXPECT_FALSE(guard->may_write("a", "ours"));
  Work work = guard->guard("a", "ours", [] { return WorkResult{WorkEffect::extend}; });
  EXPECT_EQ(work(), (WorkResult{WorkEffect::none, true}));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("same"), std::string::npos) << said;
  EXPECT_NE(said.find("contended"), std::string::npos) << said;
}

TEST_F(ContentionGuardTest, RT05_ASlowFightEndsTooHoweverLongItLasts) {
  int writes = 0;
  for (int day = 0; day < 1000; ++day) {
    if (guard_.may_write("a", "ours")) {
      guard_.wrote("a", "ours");
      guard_.observed("a", "ours");
      ++writes;
    }
    clock_.advance(hours(23));
    guard_.observed("a", "theirs");
  }
  EXPECT_EQ(writes, 20) << "4 x rewrites";
  EXPECT_EQ(reported_, std::vector<std::string>{"a"});
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
      {"rewrites", {.rewrites = 0}},
      {"rewrites", {.rewrites = 1001}},
      {"most", {.most = 4}},
      {"most", {.most = 1'000'001}},
      {"quiet", {.quiet = seconds(-1)}},
      {"window", {.window = Duration::zero()}},
      {"forget_after", {.forget_after = Duration::zero()}},
  };
  for (const auto& [name, options] : cases) {
    const auto guard = ContentionGuard::create(options);
    ASSERT_FALSE(guard) << name;
    EXPECT_EQ(guard.error().code, Errc::invalid_argument);
    EXPECT_EQ(guard.error().message.find(std::string(name) + ": is "), 0U);
  }
}

}  // namespace
}  // namespace tenure::test
