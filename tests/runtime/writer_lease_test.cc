// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Every row of the state table and every sentence of the contract in docs/writer-lease.md, through
// the public interface, caller-driven, on a manual clock. What work may do: writer_lease_work_test.
#include <tenure/writer_lease.h>

#include "writer_lease_contract.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenure::test {
namespace {

TEST_F(WriterLeaseContract, ElectingRunsNewWorkAtOnce) {
  EXPECT_EQ(lease_.state(), WriterState::electing);
  submit("a", {});
  EXPECT_EQ(lease_.next_due(), kLongAgo);
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.next_due(), kNever);
}

TEST_F(WriterLeaseContract, ElectingStaysOnNoneAndWaitIsNotResolved) {
  submit("a", {WorkEffect::none});
  poll();
  EXPECT_EQ(lease_.state(), WriterState::electing);
  const auto waited = lease_.wait_until(Duration::zero());
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Errc::timed_out);
}

TEST_F(WriterLeaseContract, ElectingLeadsOnExtendForOneLease) {
  lead();
  EXPECT_EQ(left(), seconds(60));
  EXPECT_EQ(lease_.wait(), Result<bool>(true));
}

TEST_F(WriterLeaseContract, ElectingFollowsOnReleaseForTheFirstBackoff) {
  follow();
  EXPECT_EQ(left(), milliseconds(20));
  EXPECT_EQ(lease_.status().tick, 0U);
  EXPECT_EQ(lease_.wait(), Result<bool>(false));
}

TEST_F(WriterLeaseContract, LeadingRunsNewWorkAtOnceEvenWhenItsOwnLeaseHasPassed) {
  lead();
  clock_.advance(hours(2));
  submit("a", {});
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.state(), WriterState::leading);
}

TEST_F(WriterLeaseContract, FollowingWorkWaitsUntilTheLeaseHasExpired) {
  follow_for_a_lease();
  submit("a", {WorkEffect::extend});
  clock_.advance(seconds(60) - Duration(1));
  EXPECT_EQ(poll(), Ran{});
  clock_.advance(Duration(1));
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.state(), WriterState::leading);
  EXPECT_EQ(lease_.status().tick, 0U);
  EXPECT_EQ(left(), seconds(60));
}

TEST_F(WriterLeaseContract, FollowingWorkWaitsTwiceTheFirstBackoffAtTheLeast) {
  follow();
  clock_.advance(seconds(1));
  submit("a", {});
  clock_.advance(milliseconds(40) - Duration(1));
  EXPECT_EQ(poll(), Ran{});
  clock_.advance(Duration(1));
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, FollowingReleaseStandsBackOneStepMore) {
  follow();
  submit("a", {WorkEffect::release});
  clock_.advance(milliseconds(40));
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.status().tick, 1U);
  EXPECT_GE(left(), milliseconds(80));
  EXPECT_LE(left(), milliseconds(120));
}

TEST_F(WriterLeaseContract, ReleaseDoneDropsTheWorkAndReleaseRetryKeepsIt) {
  submit("dropped", {WorkEffect::release});
  submit("kept", {WorkEffect::release, true});
  clock_.advance(seconds(1));
  poll();
  clock_.advance(seconds(1));
  poll();
  EXPECT_EQ(lease_.size(), 1U);
  EXPECT_EQ(lease_.counters().done, 1U);
}

TEST_F(WriterLeaseContract, NewestWorkReplacesAnOlderOneOfItsKey) {
  submit("a", {}, "old");
  submit("a", {}, "new");
  EXPECT_EQ(lease_.size(), 1U);
  EXPECT_EQ(poll(), Ran{"new"});
  EXPECT_EQ(lease_.counters().replaced, 1U);
}

TEST_F(WriterLeaseContract, WorkForItsOwnKeyFromInsideRunsAfterIt) {
  ASSERT_TRUE(lease_.try_work("a", [this] {
    submit("a", {}, "second");
    EXPECT_EQ(lease_.size(), 1U);
    return WorkResult{WorkEffect::extend, true};
  }));
  EXPECT_EQ(poll(), Ran{"second"});
  EXPECT_EQ(lease_.size(), 0U);
}

TEST_F(WriterLeaseContract, WorkThatRemovesItselfIsNotRetried) {
  ASSERT_TRUE(lease_.try_work("a", [this] {
    EXPECT_TRUE(lease_.remove("a"));
    EXPECT_EQ(lease_.size(), 0U);
    return WorkResult{WorkEffect::none, true};
  }));
  poll();
  clock_.advance(hours(1));
  EXPECT_EQ(lease_.poll(), 0U);
  EXPECT_EQ(lease_.counters().removed, 1U);
}

TEST_F(WriterLeaseContract, RetryRunsAgainAfterTheRetryInterval) {
  lead();
  submit("a", {WorkEffect::none, true});
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.next_due(), clock_.now() + seconds(1));
  clock_.advance(seconds(1) - Duration(1));
  EXPECT_EQ(poll(), Ran{});
  clock_.advance(Duration(1));
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, AFollowersRetryWaitsForTheLeaseToo) {
  follow_for_a_lease();
  clock_.advance(seconds(60));
  submit("a", {WorkEffect::release, true});
  clock_.advance(milliseconds(40));
  EXPECT_EQ(poll(), Ran{"a"});
  ASSERT_EQ(left(), seconds(60));
  clock_.advance(seconds(59));
  EXPECT_EQ(poll(), Ran{});
  clock_.advance(seconds(1));
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, ExpireMakesAFollowersWorkDueAtOnceAndLeavesTheState) {
  follow_for_a_lease();
  submit("a", {WorkEffect::extend});
  lease_.expire();
  EXPECT_EQ(lease_.state(), WriterState::following);
  EXPECT_LT(lease_.status().expires, clock_.now());
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, ExpireOfALeaderChangesNothingThatRuns) {
  lead();
  lease_.expire();
  EXPECT_EQ(lease_.state(), WriterState::leading);
  submit("a", {});
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, OnceLeadingAllThatWaitedForTheLeaseRunsAtOnce) {
  follow_for_a_lease();
  submit("a", {WorkEffect::extend});
  submit("b", {WorkEffect::extend});
  clock_.advance(seconds(59) + milliseconds(990));
  submit("c", {WorkEffect::extend});
  clock_.advance(milliseconds(10));
  EXPECT_EQ(poll(), (Ran{"a", "b", "c"})) << "c need not rest once this process leads";
}

TEST_F(WriterLeaseContract, ExtendDropsPendingWorkAndAFollowerStandsBackAStepMore) {
  follow();
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  EXPECT_EQ(memory.use_count(), 2);
  EXPECT_TRUE(lease_.extend("a"));
  EXPECT_EQ(memory.use_count(), 1) << "memory of dropped work is freed at once";
  EXPECT_EQ(lease_.status().tick, 1U);
  EXPECT_GE(left(), milliseconds(80));
  EXPECT_EQ(lease_.size(), 0U);
  EXPECT_EQ(lease_.counters().seen_elsewhere, 1U);
}

TEST_F(WriterLeaseContract, ExtendOfAKeyWithNothingPendingDoesNothing) {
  follow();
  const Instant before = lease_.status().expires;
  EXPECT_FALSE(lease_.extend("nothing"));
  EXPECT_EQ(lease_.status().tick, 0U);
  EXPECT_EQ(lease_.status().expires, before);
}

TEST_F(WriterLeaseContract, ExtendLeavesALeadersLeaseAsItIs) {
  lead();
  clock_.advance(seconds(1));
  submit("a", {});
  EXPECT_TRUE(lease_.extend("a"));
  EXPECT_EQ(lease_.state(), WriterState::leading);
  EXPECT_EQ(left(), seconds(59));
  EXPECT_EQ(poll(), Ran{});
}

TEST_F(WriterLeaseContract, ExtendAllIsAsManyExtendsInTheirOrder) {
  constexpr std::size_t kKeys = 200;
  WriterLease twin = make();
  follow();
  ASSERT_TRUE(twin.try_work("follow", [] { return WorkResult{WorkEffect::release}; }));
  ASSERT_EQ(twin.poll(), 1U);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kKeys; ++i) {
    // Shorter and longer than what a slot holds, and some twice.
    names.push_back(std::string(i % 40, 'x') + std::to_string(i / 2));
    submit(names.back(), {});
    ASSERT_TRUE(twin.try_work(names.back(), [] { return WorkResult{}; }));
  }
  names.insert(names.begin() + 7, "nothing");
  std::vector<std::string_view> keys(names.begin(), names.begin() + 3);
  EXPECT_EQ(lease_.extend_all(keys), 3U);
  keys.assign(names.begin(), names.end());
  const std::size_t rest = lease_.size();
  EXPECT_EQ(lease_.extend_all(keys), rest);
  for (const std::string_view key : keys) twin.extend(key);
  EXPECT_EQ(lease_.size(), 0U);
  EXPECT_EQ(lease_.status().tick, twin.status().tick);
  EXPECT_EQ(lease_.status().expires, twin.status().expires);
  EXPECT_EQ(lease_.counters().seen_elsewhere, twin.counters().seen_elsewhere);
  EXPECT_EQ(lease_.extend_all({}), 0U);
}

TEST_F(WriterLeaseContract, WhatExtendAllDropsIsDestroyedWhereItMayCallBack) {
  follow();
  int destroyed = 0;
  const auto call_back = [this, &destroyed](const int* number) {
    delete number;
    ++destroyed;
    EXPECT_EQ(lease_.size(), 0U);
  };
  const std::vector<std::string_view> keys{"a", "b"};
  for (const std::string_view key : keys) {
    ASSERT_TRUE(lease_.try_work(
        key, [held = std::shared_ptr<int>(new int(0), call_back)] { return WorkResult{}; }));
  }
  EXPECT_EQ(lease_.extend_all(keys), 2U);
  EXPECT_EQ(destroyed, 2);
}

TEST_F(WriterLeaseContract, RemoveDropsWorkAndLeavesTheLease) {
  follow();
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  EXPECT_TRUE(lease_.remove("a"));
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(lease_.status().tick, 0U);
  EXPECT_FALSE(lease_.remove("a"));
}

TEST_F(WriterLeaseContract, ReplacedWorkIsFreedAtOnce) {
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  submit("a", {});
  EXPECT_EQ(memory.use_count(), 1);
}

TEST_F(WriterLeaseContract, DoneWorkIsFreedBeforeTheNextRuns) {
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  ASSERT_TRUE(lease_.try_work("b", [this, weak = std::weak_ptr(memory)] {
    ran_.push_back(weak.expired() ? "freed" : "held");
    return WorkResult{};
  }));
  memory.reset();
  EXPECT_EQ(poll(), Ran{"freed"});
}

}  // namespace
}  // namespace tenure::test
