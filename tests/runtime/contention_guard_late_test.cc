// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What is seen late, and work that is run late: neither is a rival's, nor what is wanted now.
#include "contention_guard_fixture.h"

#include <tenure/contention_guard.h>

#include <gtest/gtest.h>
#include <string>

namespace tenure::test {
namespace {

using ContentionGuardLate = ContentionGuardTest;

TEST_F(ContentionGuardLate, OwnWritesThatAreSeenLateAreNotForeign) {
  for (int i = 1; i <= 6; ++i) {
    const std::string value = "v" + std::to_string(i);
    EXPECT_TRUE(guard_.may_write("a", value));
    guard_.wrote("a", value);
  }
  for (int i = 1; i <= 5; ++i) EXPECT_FALSE(guard_.observed("a", "v" + std::to_string(i)));
  EXPECT_TRUE(guard_.observed("a", "v6"));
  EXPECT_FALSE(guard_.is_contended("a"));
  for (int i = 1; i <= 4; ++i) guard_.observed("a", "v" + std::to_string(i));
  EXPECT_FALSE(guard_.is_contended("a"));
  guard_.observed("a", "v5");
  EXPECT_TRUE(guard_.is_contended("a"))
      << "each of them is known again once: others insist on them";
}

TEST_F(ContentionGuardLate, WithOneRewriteALateSightOfAnOwnWriteStopsNothing) {
  auto guard = ContentionGuard::create({.rewrites = 1, .clock = &clock_});
  ASSERT_TRUE(guard);
  guard->wrote("a", "one");
  guard->wrote("a", "one");
  EXPECT_TRUE(guard->may_write("a", "two"));
  guard->observed("a", "one");
  guard->observed("a", "one");
  EXPECT_TRUE(guard->may_write("a", "two"));
  guard->observed("a", "one");
  EXPECT_FALSE(guard->may_write("a", "two"));
}

TEST_F(ContentionGuardLate, WhatWasWrittenBeforeWhatIsSeenIsNotWaitedFor) {
  auto guard = ContentionGuard::create({.rewrites = 1, .clock = &clock_});
  ASSERT_TRUE(guard);
  for (const char* value : {"one", "two", "three"}) guard->wrote("a", value);
  EXPECT_FALSE(guard->observed("a", "two"));
  EXPECT_FALSE(guard->is_contended("a"));
  EXPECT_FALSE(guard->observed("a", "one")) << "a watch keeps the order: this one is another's";
  EXPECT_TRUE(guard->is_contended("a"));
}

TEST_F(ContentionGuardLate, AWatchThatHidesOwnWritesDoesNotExcuseOthersWithoutBound) {
  for (int i = 0; i < 1000; ++i) guard_.wrote("a", "old");
  EXPECT_TRUE(guard_.may_write("a", "new"));
  int sights = 0;
  while (!guard_.is_contended("a") && sights < 1000) {
    guard_.observed("a", "old");
    ++sights;
  }
  EXPECT_LE(sights, 16 + 5);
}

TEST_F(ContentionGuardLate, WorkOfAWishThatHasGoneByDoesNotRunNorTakeTheWishBack) {
  int writes = 0;
  Work stale = guard_.guard("a", "old", [&] {
    ++writes;
    return WorkResult{WorkEffect::extend};
  });
  fight("b");
  Work fresh = guard_.guard("a", "new", [] { return WorkResult{WorkEffect::extend}; });
  EXPECT_EQ(stale(), WorkResult{WorkEffect::none}) << "no retry: newer work is there or to come";
  EXPECT_EQ(writes, 0);
  EXPECT_TRUE(guard_.observed("a", "new"));
  EXPECT_EQ(fresh(), WorkResult{WorkEffect::extend});
}

TEST_F(ContentionGuardLate, AWishThatChangesWhileTheOldOneIsWrittenStays) {
  Work slow = guard_.guard("a", "old", [&] {
    EXPECT_TRUE(guard_.may_write("a", "new"));
    return WorkResult{WorkEffect::extend};
  });
  EXPECT_EQ(slow(), WorkResult{WorkEffect::extend});
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(guard_.observed("a", "old"));
  EXPECT_FALSE(guard_.is_contended("a")) << "the first of them was our own";
  EXPECT_TRUE(guard_.observed("a", "new"));
}

TEST_F(ContentionGuardLate, GuardedWorkSaysWhatItHasWritten) {
  Work work = guard_.guard("a", "one", [] { return WorkResult{WorkEffect::extend}; });
  EXPECT_EQ(work(), WorkResult{WorkEffect::extend});
  Work refused = guard_.guard("b", "one", [] { return WorkResult{WorkEffect::release}; });
  EXPECT_EQ(refused(), WorkResult{WorkEffect::release});
  for (const char* key : {"a", "b"}) {
    EXPECT_TRUE(guard_.may_write(key, "two"));
    for (int i = 0; i < 5; ++i) guard_.observed(key, "one");
  }
  EXPECT_FALSE(guard_.is_contended("a")) << "it was its own";
  EXPECT_TRUE(guard_.is_contended("b")) << "it has written nothing";
}

}  // namespace
}  // namespace tenure::test
