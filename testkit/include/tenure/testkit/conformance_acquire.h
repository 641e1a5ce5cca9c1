// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/conformance_fixture.h>

#include <set>
#include <string>
#include <vector>

/// acquire(): who gets the record, what it says, and from when it counts.
namespace tenure::testkit {

TEST_P(StoreConformance, AcquireGivesTheRecordThatWasAskedFor) {
  const auto store = open();
  const Instant before = now();
  const auto reply = acquire(store, asking("s1"));
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  ASSERT_TRUE(reply->ours && reply->record.has_value());
  EXPECT_EQ(reply->record->election, "e");
  EXPECT_EQ(reply->record->id, "id of s1");
  EXPECT_EQ(reply->record->session, "s1");
  EXPECT_NE(reply->record->revision, 0U) << "0 means something else in release()";
  EXPECT_NE(reply->record->token, 0U);
  EXPECT_GT(reply->record->ttl, Duration::zero()) << "the granted ttl is reported";
  EXPECT_GE(reply->sent_at, before);
  EXPECT_LE(reply->sent_at, now());
  EXPECT_EQ(reply->in_line, store->traits().has_queue);
}

TEST_P(StoreConformance, SecondComerIsToldWhoHolds) {
  const auto store = open();
  const auto other = open();
  const Record held = hold(store, "s1");
  const auto reply = acquire(other, asking("s2"));
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_FALSE(reply->ours);
  ASSERT_TRUE(reply->record.has_value());
  EXPECT_TRUE(is_of(other, reply->record, "s1"));
  EXPECT_EQ(reply->record->id, "id of s1");
  EXPECT_EQ(reply->record->revision, held.revision);
  EXPECT_EQ(reply->record->token, held.token);
}

TEST_P(StoreConformance, ExactlyOneOfManyConcurrentAcquiresWins) {
  std::vector<Pending<AcquireReply>> answers;
  for (int i = 0; i < 8; ++i) {
    answers.push_back(begin_acquire(open(), asking("s" + std::to_string(i))));
  }
  std::vector<std::string> winners;
  for (const auto& answer : answers) {
    const auto reply = wait(answer);
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    if (reply->ours) winners.push_back(reply->record->session);
  }
  ASSERT_EQ(winners.size(), 1U);
  const auto witness = open();
  EXPECT_TRUE(is_of(witness, holder(witness), winners.front()));
}

TEST_P(StoreConformance, RepeatingAnAcquireGivesTheSameRecordAgain) {
  const auto store = open();
  const Record held = hold(store, "s1");
  const auto again = acquire(store, asking("s1"));
  ASSERT_TRUE(again.has_value() && again->ours && again->record.has_value());
  EXPECT_EQ(again->record->revision, held.revision);
  EXPECT_EQ(again->record->token, held.token);
  EXPECT_EQ(again->record->id, held.id);
}

TEST_P(StoreConformance, SB09_TheSameIdWithDifferentSessionsNeverShares) {
  int winners = 0;
  for (int i = 0; i < 3; ++i) {
    AcquireRequest request = asking("s" + std::to_string(i));
    request.id = "the same id";
    const auto reply = acquire(open(), request);
    ASSERT_TRUE(reply.has_value());
    if (reply->ours) ++winners;
  }
  EXPECT_EQ(winners, 1);
}

TEST_P(StoreConformance, ElectionsAreIndependentOfEachOther) {
  const auto store = open();
  const auto other = open();
  const Record a = hold(store, "s1", "a");
  const Record b = hold(other, "s2", "b");
  // maybe: one session may hold several elections.
  const Record c = hold(store, "s1", "c");
  EXPECT_TRUE(released(store, a));
  EXPECT_TRUE(is_of(store, holder(store, "b"), "s2"));
  EXPECT_EQ(holder(store, "c")->revision, c.revision);
  EXPECT_EQ(holder(other, "a"), std::nullopt);
  EXPECT_TRUE(renew(other, b, ttl())->held);
}

TEST_P(StoreConformance, TokensGrowWithEveryTermWhateverEndsIt) {
  auto store = open();
  std::uint64_t last = 0;
  int terms = 0;
  const auto next_term = [&](const std::string& how) {
    const Record record = hold(store, "s" + std::to_string(++terms));
    EXPECT_GT(record.token, last) << "after " << how;
    last = record.token;
    return record;
  };
  EXPECT_TRUE(released(store, next_term("nothing")));
  const Record again = next_term("a release");
  EXPECT_TRUE(released(store, again));
  const auto same_session = acquire(store, asking(again.session));
  ASSERT_TRUE(same_session && same_session->ours);
  EXPECT_GT(same_session->record->token, last) << "a session's next holding is a new term";
  EXPECT_NE(same_session->record->revision, again.revision);
  last = same_session->record->token;
  if (store->traits().expiry == ExpiryBy::store) {
    world_->pass(ttl() + world_->slack());
    (void)next_term("an expiry");
    kill(store);
    store = open();
    world_->pass(ttl() + world_->slack());
    (void)next_term("a crash");
  }
  if (world_->force_delete("e")) (void)next_term("a deletion");
}

TEST_P(StoreConformance, TokensGrowWhenEveryStoreWasClosedInBetween) {
  auto store = open();
  const Record first = hold(store, "s1");
  EXPECT_TRUE(released(store, first));
  kill(store);
  store = open();
  EXPECT_GT(hold(store, "s2").token, first.token);
}

TEST_P(StoreConformance, CK06_AnExpiredRecordIsTakenAtTheFirstTry) {
  const auto store = open();
  const auto other = open();
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  const Record held = hold(store, "s1");
  world_->pass(held.ttl + world_->slack());
  const auto reply = acquire(other, asking("s2"));
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_TRUE(reply->ours);
}

TEST_P(StoreConformance, AHolderIsSafeUntilSentAtPlusTheGrantedTtl) {
  const auto store = open();
  const auto other = open();
  const auto reply = acquire(store, asking("s1"));
  ASSERT_TRUE(reply && reply->ours);
  pass_until(reply->sent_at + reply->record->ttl - world_->tick());
  EXPECT_TRUE(refused(other, "s2"));
}

TEST_P(StoreConformance, CK03_AnAcquireCountsFromItsSendingHoweverLateTheAnswer) {
  const auto store = open();
  const auto other = open();
  const auto answer = begin_acquire(store, asking("s1"));
  if (!world_->carry_out_then_pass(ttl() / 3)) GTEST_SKIP() << "answers cannot be held up";
  const auto reply = wait(answer);
  ASSERT_TRUE(reply && reply->ours);
  pass_until(reply->sent_at + reply->record->ttl - world_->tick());
  EXPECT_TRUE(refused(other, "s2")) << "sent_at is later than what the store counts from";
}

TEST_P(StoreConformance, ARepeatedAcquireBuysNoMoreThanItSays) {
  const auto store = open();
  const auto other = open();
  (void)hold(store, "s1");
  world_->pass(ttl() / 2);
  const auto again = acquire(store, asking("s1"));
  ASSERT_TRUE(again && again->ours);
  pass_until(again->sent_at + again->record->ttl - world_->tick());
  EXPECT_TRUE(refused(other, "s2"));
}

TEST_P(StoreConformance, WhereTheStoreJudgesNobodyElseCan) {
  const auto store = open();
  const auto other = open();
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  const Record held = hold(store, "s1");
  AcquireRequest request = asking("s2");
  request.judged_expired = held;
  const auto reply = acquire(other, request);
  ASSERT_TRUE(reply.has_value());
  EXPECT_FALSE(reply->ours) << "a live record was taken on somebody's word";
}

TEST_P(StoreConformance, ObserversMayReplaceExactlyTheRecordTheyJudged) {
  const auto store = open();
  const auto other = open();
  if (store->traits().expiry != ExpiryBy::observers) GTEST_SKIP() << "the store judges";
  const Record held = hold(store, "s1");
  world_->pass(held.ttl * 3);
  EXPECT_TRUE(refused(other, "s2")) << "a record of such a store does not end by itself";
  const auto seen = holder(other);
  ASSERT_TRUE(seen.has_value());
  ASSERT_TRUE(renew(store, held, ttl())->held);
  AcquireRequest request = asking("s2");
  request.judged_expired = seen;
  EXPECT_FALSE(acquire(other, request)->ours) << "it has been renewed since it was judged";
  const auto renewed = holder(other);
  ASSERT_TRUE(renewed.has_value());
  EXPECT_NE(renewed->renewal, seen->renewal);
  if (store->traits().has_queue) (void)release(other, "e", "s2", 0);
  request.judged_expired = renewed;
  const auto reply = acquire(other, request);
  ASSERT_TRUE(reply && reply->ours);
  EXPECT_GT(reply->record->token, held.token);
  EXPECT_FALSE(renew(store, held, ttl())->held);
}

}  // namespace tenure::testkit
