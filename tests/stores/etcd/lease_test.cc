// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/lease.h"

#include <chrono>
#include <gtest/gtest.h>

namespace tenure::etcd {
namespace {

using namespace std::chrono_literals;

Instant at(Duration since_boot) { return Instant(since_boot); }
LeaseReply reply(Duration sent_at, Duration ttl, std::uint64_t term) {
  return {{100, term}, ttl, at(sent_at)};
}
Header header(std::uint64_t term) { return {100, term}; }

Lease granted() {
  Lease lease(7, 10);
  lease.granted(reply(1s, 10s, 2));
  return lease;
}

TEST(EtcdLease, AGrantCountsFromItsSendingWithTheGrantedTtl) {
  Lease lease(7, 1);
  EXPECT_EQ(lease.state(), Lease::State::absent);
  lease.granted(reply(1s, 2s, 2));
  EXPECT_EQ(lease.state(), Lease::State::alive);
  EXPECT_EQ(lease.sent_at(), at(1s));
  EXPECT_EQ(lease.ttl(), 2s);
}

TEST(EtcdLease, AKeepaliveCountsOnlyAfterAReadOfItsTerm) {
  Lease lease = granted();
  lease.kept(reply(4s, 10s, 2), at(5s));
  EXPECT_EQ(lease.sent_at(), at(1s)) << "nobody has confirmed it";
  EXPECT_TRUE(lease.shown(header(2), at(5s)));
  EXPECT_EQ(lease.sent_at(), at(4s));
}

TEST(EtcdLease, ADeposedLeadersKeepaliveDoesNotCount) {
  Lease lease = granted();
  lease.kept(reply(4s, 10s, 2), at(5s));
  EXPECT_FALSE(lease.shown(header(3), at(6s)));
  EXPECT_EQ(lease.sent_at(), at(1s));
  // The new leader's does.
  lease.kept(reply(7s, 10s, 3), at(8s));
  EXPECT_TRUE(lease.shown(header(3), at(8s)));
  EXPECT_EQ(lease.sent_at(), at(7s));
}

TEST(EtcdLease, AReadSentBeforeTheKeepaliveWasAnsweredConfirmsNothing) {
  Lease lease = granted();
  lease.kept(reply(4s, 10s, 2), at(5s));
  EXPECT_FALSE(lease.shown(header(2), at(5s) - Duration(1)));
  EXPECT_EQ(lease.sent_at(), at(1s));
}

TEST(EtcdLease, WithoutATtlItIsGoneForGood) {
  Lease lease = granted();
  lease.kept(reply(4s, 0s, 2), at(5s));
  EXPECT_EQ(lease.state(), Lease::State::gone);
  lease.kept(reply(6s, 10s, 2), at(7s));
  EXPECT_EQ(lease.state(), Lease::State::gone);
  EXPECT_FALSE(lease.shown(header(2), at(8s)));
}

TEST(EtcdLease, AnOldAnswerTakesNothingBack) {
  Lease lease = granted();
  lease.kept(reply(4s, 10s, 2), at(5s));
  ASSERT_TRUE(lease.shown(header(2), at(5s)));
  lease.kept(reply(2s, 10s, 2), at(6s));
  EXPECT_EQ(lease.likely_until(), at(14s));
  EXPECT_TRUE(lease.shown(header(2), at(7s)));
  EXPECT_EQ(lease.sent_at(), at(4s));
}

TEST(EtcdLease, AGrantWhoseAnswerWasLostCountsOnlyWhenItsKeepaliveDoes) {
  Lease lease(7, 10);
  lease.kept(reply(4s, 10s, 2), at(5s));
  EXPECT_EQ(lease.state(), Lease::State::alive);
  EXPECT_EQ(lease.sent_at(), kLongAgo);
  EXPECT_TRUE(lease.shown(header(2), at(5s)));
  EXPECT_EQ(lease.sent_at(), at(4s));
  EXPECT_EQ(lease.ttl(), 10s);
}

TEST(EtcdLease, IsStaleAfterHalfItsTtlAndKeptEachThird) {
  const Lease lease = granted();
  EXPECT_FALSE(lease.is_stale(at(6s)));
  EXPECT_TRUE(lease.is_stale(at(6s) + Duration(1)));
  EXPECT_EQ(lease.keep_at(), at(1s) + Duration(10s) / 3);
}

}  // namespace
}  // namespace tenure::etcd
