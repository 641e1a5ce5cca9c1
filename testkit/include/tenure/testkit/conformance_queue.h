// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/conformance_fixture.h>

#include <string>
#include <vector>

/// in_line, and stores in which candidates stand in line.
namespace tenure::testkit {

TEST_P(StoreConformance, WithoutAQueueNobodyIsEverOutOfLine) {
  const auto store = open();
  if (store->traits().has_queue) GTEST_SKIP() << "this store has a queue";
  const auto watching = watch(store, "e", "s2");
  (void)hold(store, "s1");
  const auto reply = acquire(open(), asking("s2"));
  ASSERT_TRUE(reply.has_value());
  EXPECT_FALSE(reply->in_line) << "there is no line to stand in";
  ASSERT_TRUE(soon_shows(watching, "s1"));
  for (const ElectionState& state : watching->states()) EXPECT_TRUE(state.in_line);
}

TEST_P(StoreConformance, TheLineIsServedInOrderOfArrival) {
  const auto first = open();
  if (!first->traits().has_queue) GTEST_SKIP() << "this store has no queue";
  Record held = hold(first, "s0");
  const auto store = open();
  const auto watching = watch(store, "e");
  for (const std::string session : {"s1", "s2", "s3"}) {
    const auto reply = acquire(store, asking(session));
    ASSERT_TRUE(reply.has_value());
    EXPECT_FALSE(reply->ours);
    EXPECT_TRUE(reply->in_line);
  }
  auto holding = first;
  for (const std::string session : {"s1", "s2", "s3"}) {
    ASSERT_TRUE(released(holding, held));
    ASSERT_TRUE(soon_shows(watching, session));
    const auto turn = acquire(store, asking(session));
    ASSERT_TRUE(turn && turn->ours) << "the watch said so";
    EXPECT_GT(turn->record->token, held.token);
    EXPECT_EQ(turn->record->revision, watching->last()->holder->revision);
    held = *turn->record;
    holding = store;
  }
}

TEST_P(StoreConformance, StandingInLineTwiceKeepsThePlace) {
  const auto store = open();
  if (!store->traits().has_queue) GTEST_SKIP() << "this store has no queue";
  const Record held = hold(store, "s0");
  for (const std::string session : {"s1", "s2", "s1"}) (void)acquire(store, asking(session));
  ASSERT_TRUE(released(store, held));
  EXPECT_EQ(holder(store)->session, "s1");
}

TEST_P(StoreConformance, ST01_AWaiterWhoseOwnEntryVanishedIsTold) {
  const auto store = open();
  if (!store->traits().has_queue) GTEST_SKIP() << "this store has no queue";
  (void)hold(store, "s0");
  (void)acquire(store, asking("s1"));
  const auto watching = watch(store, "e", "s1");
  ASSERT_TRUE(pump([&] { return watching->count() > 0; }));
  EXPECT_TRUE(watching->last()->in_line);
  const auto releasing = store->traits().private_sessions ? store : open();
  ASSERT_TRUE(release(releasing, "e", "s1", 0)->released) << "revision 0 is the one in line too";
  EXPECT_TRUE(pump([&] { return !watching->last()->in_line; }));
  EXPECT_TRUE(watching->shows("s0"));
}

TEST_P(StoreConformance, AWaiterThatLeftIsPassedOver) {
  const auto store = open();
  if (!store->traits().has_queue) GTEST_SKIP() << "this store has no queue";
  const Record held = hold(store, "s0");
  for (const std::string session : {"s1", "s2"}) (void)acquire(store, asking(session));
  ASSERT_TRUE(release(store, "e", "s1", 0)->released);
  ASSERT_TRUE(released(store, held));
  EXPECT_EQ(holder(store)->session, "s2");
}

TEST_P(StoreConformance, TheNextInLineFollowsAnExpiredHolder) {
  auto store = open();
  const auto other = open();
  if (!store->traits().has_queue) GTEST_SKIP() << "this store has no queue";
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  const Record held = hold(store, "s0");
  (void)acquire(other, asking("s1"));
  const auto watching = watch(other, "e", "s1");
  kill(store);
  world_->pass(held.ttl + world_->slack());
  ASSERT_TRUE(soon_shows(watching, "s1"));
  const auto turn = acquire(other, asking("s1"));
  ASSERT_TRUE(turn && turn->ours);
  EXPECT_GT(turn->record->token, held.token);
}

TEST_P(StoreConformance, AKilledWaitersPlaceIsGoneAfterItsTtl) {
  const auto store = open();
  auto doomed = open();
  if (!store->traits().has_queue) GTEST_SKIP() << "this store has no queue";
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  Record held = hold(store, "s0");
  (void)acquire(doomed, asking("s1"));
  (void)acquire(store, asking("s2"));
  kill(doomed);
  for (int i = 0; i < 4; ++i) {
    world_->pass(ttl() / 3);
    const auto reply = renew(store, held, ttl());
    ASSERT_TRUE(reply && reply->held);
  }
  world_->pass(world_->slack());
  ASSERT_TRUE(released(store, held));
  EXPECT_EQ(holder(store)->session, "s2");
}

}  // namespace tenure::testkit
