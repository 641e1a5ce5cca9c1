// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/conformance_fixture.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

/// renew(), release() and expiry: how a term goes on, and every way it ends.
namespace tenure::testkit {

TEST_P(StoreConformance, RenewProlongsFromItsSending) {
  const auto store = open();
  const auto other = open();
  const Record held = hold(store, "s1");
  world_->pass(held.ttl / 2);
  const Instant before = now();
  const auto reply = renew(store, held, ttl());
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  ASSERT_TRUE(reply->held);
  EXPECT_GT(reply->ttl, Duration::zero()) << "the granted ttl is reported";
  EXPECT_GE(reply->sent_at, before);
  EXPECT_LE(reply->sent_at, now());
  pass_until(reply->sent_at + reply->ttl - world_->tick());
  EXPECT_TRUE(refused(other, "s2"));
  const auto shown = holder(other);
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->revision, held.revision) << "a renewal is not a new record";
  EXPECT_EQ(shown->token, held.token) << "a renewal is not a new term";
}

TEST_P(StoreConformance, CK03_ARenewalCountsFromItsSendingHoweverLateTheAnswer) {
  const auto store = open();
  const auto other = open();
  const Record held = hold(store, "s1");
  const auto answer = begin(store, &LeaseStore::renew, RenewRequest{held, ttl(), kNever});
  if (!world_->carry_out_then_pass(ttl() / 3)) GTEST_SKIP() << "answers cannot be held up";
  const auto reply = wait(answer);
  ASSERT_TRUE(reply && reply->held);
  pass_until(reply->sent_at + reply->ttl - world_->tick());
  EXPECT_TRUE(refused(other, "s2")) << "sent_at is later than what the store counts from";
}

TEST_P(StoreConformance, ARenewalMayGrantAnotherTtlAndThatOneCounts) {
  const auto store = open();
  const auto other = open();
  const Record held = hold(store, "s1");
  const auto longer = renew(store, held, ttl() * 2);
  ASSERT_TRUE(longer && longer->held);
  pass_until(longer->sent_at + longer->ttl - world_->tick());
  EXPECT_TRUE(refused(other, "s2"));
  const auto shorter = renew(store, held, std::max(ttl() / 2, store->traits().min_ttl));
  ASSERT_TRUE(shorter && shorter->held);
  if (store->traits().expiry != ExpiryBy::store) return;
  world_->pass(shorter->ttl + world_->slack());
  EXPECT_EQ(holder(other), std::nullopt);
}

TEST_P(StoreConformance, RenewNeverRevivesWhatHasExpired) {
  const auto store = open();
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  const Record held = hold(store, "s1");
  world_->pass(held.ttl + world_->slack());
  const auto reply = renew(store, held, ttl());
  ASSERT_TRUE(reply.has_value()) << "a record that is gone is an answer, not an error";
  EXPECT_FALSE(reply->held);
  EXPECT_EQ(reply->holder, std::nullopt);
  EXPECT_EQ(holder(store), std::nullopt);
}

TEST_P(StoreConformance, CK02_AfterASuspendNoVerbTakesAnExpiredRecordForALiveOne) {
  const auto store = open();
  const auto other = open();
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  Record held = hold(store, "s1");
  // Time passes while no loop runs: the request is the first thing that happens on waking.
  const auto suspend = [&] { return world_->carry_out_then_pass(held.ttl + world_->slack()); };
  if (!suspend()) GTEST_SKIP() << "the world cannot be suspended";
  EXPECT_FALSE(renew(store, held, ttl())->held);
  held = hold(store, "s2");
  ASSERT_TRUE(suspend());
  EXPECT_FALSE(released(store, held));
  held = hold(store, "s3");
  ASSERT_TRUE(suspend());
  EXPECT_EQ(holder(other), std::nullopt);
  held = hold(store, "s4");
  ASSERT_TRUE(suspend());
  (void)hold(other, "s5");
}

TEST_P(StoreConformance, RenewNeverRevivesWhatWasReleased) {
  const auto store = open();
  const Record held = hold(store, "s1");
  ASSERT_TRUE(released(store, held));
  EXPECT_FALSE(renew(store, held, ttl())->held);
  EXPECT_EQ(holder(store), std::nullopt);
}

TEST_P(StoreConformance, RenewOfARecordThatIsNotOursSaysWhoHoldsAndChangesNothing) {
  const auto store = open();
  const auto other = open();
  const Record first = hold(store, "s1");
  ASSERT_TRUE(released(store, first));
  const Record held = hold(other, "s2");
  Record wrong_session = held;
  wrong_session.session = "s1";
  Record wrong_revision = held;
  ++wrong_revision.revision;
  for (const Record& record : {first, wrong_session, wrong_revision}) {
    const auto reply = renew(store, record, ttl());
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_FALSE(reply->held);
    ASSERT_TRUE(reply->holder.has_value());
    EXPECT_TRUE(is_of(store, reply->holder, "s2"));
    EXPECT_EQ(reply->holder->revision, held.revision);
  }
  EXPECT_EQ(holder(store)->revision, held.revision);
  if (store->traits().expiry != ExpiryBy::store) return;
  world_->pass(held.ttl + world_->slack());
  EXPECT_EQ(holder(store), std::nullopt) << "a refused renewal prolonged the record";
}

TEST_P(StoreConformance, ReleaseFreesAtOnce) {
  const auto store = open();
  const Record held = hold(store, "s1");
  EXPECT_TRUE(released(store, held));
  EXPECT_EQ(holder(store), std::nullopt);
  (void)hold(open(), "s2");
}

TEST_P(StoreConformance, RH02_RepeatingAReleaseIsHarmlessAndSaysThatNothingWasThere) {
  const auto store = open();
  const Record held = hold(store, "s1");
  EXPECT_TRUE(released(store, held));
  EXPECT_FALSE(released(store, held));
  EXPECT_FALSE(release(store, "never seen", "s1", 0)->released);
}

TEST_P(StoreConformance, SB06_AStaleReleaseIsANoOpAndSaysSo) {
  const auto store = open();
  const Record first = hold(store, "s1");
  EXPECT_TRUE(released(store, first));
  const Record second = hold(store, "s1");
  EXPECT_FALSE(released(store, first));
  const auto shown = holder(store);
  ASSERT_TRUE(shown.has_value()) << "a late release hit the newer incarnation";
  EXPECT_EQ(shown->revision, second.revision);
}

TEST_P(StoreConformance, ReleaseOfSomebodyElsesRecordIsANoOpAndSaysSo) {
  const auto store = open();
  const auto other = open();
  const Record held = hold(store, "s1");
  EXPECT_FALSE(release(other, "e", "s2", held.revision)->released);
  EXPECT_FALSE(release(other, "e", "s2", 0)->released);
  EXPECT_FALSE(release(other, "e", "s1", held.revision + 1)->released);
  EXPECT_TRUE(holder(store).has_value());
}

TEST_P(StoreConformance, ST07_ReleaseOfRevisionZeroCleansUpAfterAnAcquireOfUnknownOutcome) {
  const auto store = open();
  const auto unheard = begin_acquire(store, asking("s1"));
  const auto cleaned = release(store, "e", "s1", 0);
  ASSERT_TRUE(cleaned.has_value()) << cleaned.error().message;
  ASSERT_TRUE(wait(unheard).has_value());
  // maybe: a store may carry out the two in either order; a second time it has nothing left to do
  // or does it now.
  (void)release(store, "e", "s1", 0);
  EXPECT_FALSE(release(store, "e", "s1", 0)->released);
  EXPECT_EQ(holder(store), std::nullopt);
}

TEST_P(StoreConformance, ReleaseOfWhatHasExpiredSaysThatNothingWasThere) {
  const auto store = open();
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  const Record held = hold(store, "s1");
  world_->pass(held.ttl + world_->slack());
  EXPECT_FALSE(released(store, held));
}

TEST_P(StoreConformance, AKilledHoldersRecordEndsByItsTtlAtTheLatest) {
  auto store = open();
  const auto other = open();
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  const Record held = hold(store, "s1");
  kill(store);
  // maybe: at once, where the store can tell that the session is dead.
  world_->pass(held.ttl + world_->slack());
  EXPECT_GT(hold(other, "s2").token, held.token);
}

TEST_P(StoreConformance, ClosingIsNotReleasing) {
  const auto store = open();
  const auto other = open();
  const auto reply = acquire(store, asking("s1"));
  ASSERT_TRUE(reply && reply->ours);
  close(store);
  pass_until(reply->sent_at + reply->record->ttl - world_->tick());
  EXPECT_TRUE(refused(other, "s2"));
  if (other->traits().expiry != ExpiryBy::store) return;
  world_->pass(world_->tick() + world_->slack());
  (void)hold(other, "s2");
}

TEST_P(StoreConformance, CK01_AStepOfTheWallClockNeitherEndsNorProlongsATerm) {
  for (const Duration step : {Duration(std::chrono::hours(1)), Duration(std::chrono::hours(-1))}) {
    const auto store = open();
    const auto other = open();
    const auto reply = acquire(store, asking("s1"));
    ASSERT_TRUE(reply && reply->ours);
    if (!world_->step_wall(step)) GTEST_SKIP() << "the wall clock cannot be stepped";
    pass_until(reply->sent_at + reply->record->ttl - world_->tick());
    EXPECT_TRUE(refused(other, "s2"));
    if (other->traits().expiry == ExpiryBy::store) {
      world_->pass(world_->tick() + world_->slack());
      EXPECT_EQ(holder(other), std::nullopt);
    }
    (void)release(store, "e", "s1", 0);
  }
}

}  // namespace tenure::testkit
