// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/batcher.h"

#include <gtest/gtest.h>

namespace tenure::etcd {
namespace {

BatchItem entering(const std::string& election) {
  BatchItem item;
  item.election = election;
  item.txn.conditions = {{election + "/1", 0}};
  item.txn.then = {Put{election + "/1", "v", 1}, Range{election + "/", election + "0"}};
  item.txn.otherwise = {Range{.key = election + "/1"}};
  return item;
}

BatchItem reading(const std::string& key, std::size_t ranges) {
  BatchItem item;
  for (std::size_t i = 0; i < ranges; ++i) item.txn.then.emplace_back(Range{.key = key});
  return item;
}

OpReply showing(const std::string& key) {
  OpReply reply;
  reply.kvs = {KeyValue{key, "v", 1, 1, 1}};
  return reply;
}

TEST(EtcdBatch, AloneIsSentAsItIs) {
  std::deque<BatchItem> queue;
  queue.push_back(entering("a"));
  const auto items = take_batch(queue, false);
  ASSERT_EQ(items.size(), 1U);
  const Txn txn = pack(items, false);
  EXPECT_EQ(txn.conditions.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Put>(txn.then.front()));
}

TEST(EtcdBatch, WritesKeepTheirOwnConditions) {
  std::deque<BatchItem> queue;
  for (const char* election : {"a", "b", "c"}) queue.push_back(entering(election));
  const auto items = take_batch(queue, false);
  const Txn txn = pack(items, false);
  EXPECT_TRUE(txn.conditions.empty());
  ASSERT_EQ(txn.then.size(), 3U);
  EXPECT_EQ(std::get<Nested>(txn.then[1]).txn.front().conditions.front().key, "b/1");
}

TEST(EtcdBatch, TwoOfOneElectionNeverShareATransactionAndKeepTheirOrder) {
  std::deque<BatchItem> queue;
  for (const char* election : {"a", "b", "a", "a", "c"}) queue.push_back(entering(election));
  queue[2].limit = Instant(Duration(1));
  queue[3].limit = Instant(Duration(2));
  EXPECT_EQ(take_batch(queue, false).size(), 3U);
  auto second = take_batch(queue, false);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second.front().limit, Instant(Duration(1)));
  EXPECT_EQ(take_batch(queue, false).front().limit, Instant(Duration(2)));
  EXPECT_TRUE(queue.empty());
}

TEST(EtcdBatch, NoMoreThanEtcdTakes) {
  std::deque<BatchItem> queue;
  for (int i = 0; i < 300; ++i) queue.push_back(entering("e" + std::to_string(i)));
  EXPECT_EQ(take_batch(queue, false).size(), kMostOperations);
  EXPECT_EQ(take_batch(queue, false).size(), kMostOperations);
  EXPECT_EQ(take_batch(queue, false).size(), 300U - 2 * kMostOperations);
  for (int i = 0; i < 100; ++i) queue.push_back(reading("k", 3));
  EXPECT_EQ(take_batch(queue, true).size(), kMostOperations / 3);
  queue.clear();
  queue.push_back(reading("k", 500));
  EXPECT_EQ(take_batch(queue, true).size(), 1U) << "etcd may refuse it; it does not stay for ever";
}

TEST(EtcdBatch, AnswersGoToWhoeverAsked) {
  const std::vector<BatchItem> reads{reading("a", 1), reading("b", 2)};
  TxnReply reply;
  reply.header = {9, 2};
  reply.sent_at = Instant(Duration(5));
  reply.ops = {showing("a"), showing("b1"), showing("b2")};
  const auto replies = unpack(reads, true, reply);
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[0].ops.front().kvs.front().key, "a");
  EXPECT_EQ(replies[1].ops[1].kvs.front().key, "b2");
  EXPECT_EQ(replies[1].header.revision, 9);
  EXPECT_EQ(replies[1].sent_at, Instant(Duration(5)));
}

TEST(EtcdBatch, NestedAnswersCarryTheHeaderOfTheWhole) {
  std::deque<BatchItem> queue;
  queue.push_back(entering("a"));
  queue.push_back(entering("b"));
  const auto items = take_batch(queue, false);
  TxnReply reply;
  reply.header = {9, 2};
  for (const bool succeeded : {true, false}) {
    OpReply op;
    op.nested.emplace_back();
    op.nested.front().succeeded = succeeded;
    reply.ops.push_back(std::move(op));
  }
  const auto replies = unpack(items, false, reply);
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_TRUE(replies[0].succeeded);
  EXPECT_FALSE(replies[1].succeeded);
  EXPECT_EQ(replies[1].header.revision, 9) << "it is the create revision of what was put";
}

TEST(EtcdBatch, AnAnswerThatDoesNotFitIsNoAnswer) {
  const std::vector<BatchItem> reads{reading("a", 1), reading("b", 2)};
  TxnReply reply;
  reply.ops = {showing("a"), showing("b1")};
  EXPECT_TRUE(unpack(reads, true, reply).empty());
  std::deque<BatchItem> queue;
  queue.push_back(entering("a"));
  queue.push_back(entering("b"));
  EXPECT_TRUE(unpack(take_batch(queue, false), false, reply).empty());
}

}  // namespace
}  // namespace tenure::etcd
