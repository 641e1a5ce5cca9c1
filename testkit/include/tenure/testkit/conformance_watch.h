// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/conformance_fixture.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>

/// watch(): the present state first, then what changes, the newest never left out, and an end that
/// is said.
namespace tenure::testkit {

TEST_P(StoreConformance, AWatchFirstGivesThePresentStateOfAFreeElection) {
  const auto watching = watch(open());
  ASSERT_TRUE(soon_shows(watching, ""));
  EXPECT_EQ(watching->count(), 1U);
  EXPECT_EQ(watching->last()->election, "e");
  EXPECT_TRUE(watching->last()->in_line) << "nobody watches for a place in line";
}

TEST_P(StoreConformance, AWatchFirstGivesThePresentStateOfAHeldElection) {
  const auto store = open();
  const Record held = hold(store, "s1");
  const auto other = open();
  const auto watching = watch(other);
  ASSERT_TRUE(pump([&] { return watching->count() > 0; }));
  const auto first = watching->states().front();
  ASSERT_TRUE(first.holder.has_value());
  EXPECT_TRUE(is_of(other, first.holder, "s1"));
  EXPECT_EQ(first.holder->id, "id of s1");
  EXPECT_EQ(first.holder->revision, held.revision);
  EXPECT_EQ(first.holder->token, held.token);
  EXPECT_GE(first.as_of, held.revision);
}

TEST_P(StoreConformance, AWatchTellsEveryChangeOfOtherClientsInOrder) {
  const auto watching = watch(open());
  ASSERT_TRUE(soon_shows(watching, ""));
  const auto store = open();
  std::uint64_t last_token = 0;
  for (int i = 0; i < 5; ++i) {
    const std::string session = "s" + std::to_string(i);
    const Record held = hold(store, session);
    ASSERT_TRUE(soon_shows(watching, session));
    const auto state = watching->last();
    EXPECT_EQ(state->holder->revision, held.revision);
    EXPECT_GE(state->as_of, held.revision)
        << "a state that shows a record cannot be older than the record";
    EXPECT_GT(state->holder->token, last_token);
    last_token = state->holder->token;
    ASSERT_TRUE(released(store, held));
    ASSERT_TRUE(soon_shows(watching, ""));
  }
  std::uint64_t as_of = 0;
  for (const ElectionState& state : watching->states()) {
    EXPECT_GE(state.as_of, as_of);
    as_of = state.as_of;
  }
}

TEST_P(StoreConformance, AWatchTellsOfChangesByItsOwnClient) {
  const auto store = open();
  const auto watching = watch(store);
  const Record held = hold(store, "s1");
  ASSERT_TRUE(soon_shows(watching, "s1"));
  ASSERT_TRUE(released(store, held));
  EXPECT_TRUE(soon_shows(watching, ""));
}

TEST_P(StoreConformance, ABurstOfChangesMayBeShortenedButItsEndIsNeverLeftOut) {
  const auto watching = watch(open());
  const auto store = open();
  for (int i = 0; i < 20; ++i) {
    const Record held = hold(store, "s" + std::to_string(i));
    ASSERT_TRUE(released(store, held));
  }
  (void)hold(store, "last");
  ASSERT_TRUE(soon_shows(watching, "last"));
  std::uint64_t token = 0;
  for (const ElectionState& state : watching->states()) {
    if (!state.holder) continue;
    EXPECT_GE(state.holder->token, token) << "an older holder was told after a newer one";
    token = state.holder->token;
  }
}

TEST_P(StoreConformance, RT04_RenewalsAreReportedOnlyWhereObserversJudge) {
  const auto store = open();
  const auto watching = watch(open());
  const Record held = hold(store, "s1");
  ASSERT_TRUE(soon_shows(watching, "s1"));
  const std::size_t before = watching->count();
  const auto first = watching->last()->holder->renewal;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(renew(store, held, ttl())->held);
  if (store->traits().expiry == ExpiryBy::observers) {
    EXPECT_TRUE(pump([&] {
      const auto last = watching->last();
      return last->holder && last->holder->renewal != first;
    }));
    return;
  }
  ASSERT_TRUE(released(store, held));
  ASSERT_TRUE(soon_shows(watching, ""));
  EXPECT_EQ(watching->count(), before + 1) << "a renewal woke the watchers";
}

TEST_P(StoreConformance, AWatchTellsOfAnExpiryWithoutBeingAsked) {
  const auto store = open();
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  const auto watching = watch(open());
  const Record held = hold(store, "s1");
  ASSERT_TRUE(soon_shows(watching, "s1"));
  world_->pass(held.ttl + world_->slack());
  EXPECT_TRUE(soon_shows(watching, ""));
}

TEST_P(StoreConformance, AWatchTellsOfAnExpiryThatRenewalsHadPutOff) {
  const auto store = open();
  if (store->traits().expiry != ExpiryBy::store) GTEST_SKIP() << "observers judge";
  const auto watching = watch(open());
  const Record held = hold(store, "s1");
  Duration granted = held.ttl;
  for (int i = 0; i < 3; ++i) {
    world_->pass(granted / 2);
    const auto reply = renew(store, held, ttl());
    ASSERT_TRUE(reply && reply->held);
    granted = reply->ttl;
  }
  EXPECT_TRUE(watching->shows("s1"));
  world_->pass(granted + world_->slack());
  EXPECT_TRUE(soon_shows(watching, ""));
}

TEST_P(StoreConformance, CN06_AWatchTellsOfADeletionAndOfATakeover) {
  const auto store = open();
  const auto watching = watch(open());
  (void)hold(store, "s1");
  ASSERT_TRUE(soon_shows(watching, "s1"));
  if (!world_->force_delete("e")) GTEST_SKIP() << "nothing can be deleted from outside";
  ASSERT_TRUE(soon_shows(watching, ""));
  const Record held = hold(store, "s2");
  ASSERT_TRUE(soon_shows(watching, "s2"));
  if (!world_->force_takeover("e")) return;
  EXPECT_TRUE(pump([&] {
    const auto last = watching->last();
    return last->holder && !watching->shows("s2");
  }));
  EXPECT_GT(watching->last()->holder->token, held.token);
  EXPECT_FALSE(renew(store, held, ttl())->held);
}

TEST_P(StoreConformance, AWatchOfEverythingTellsEachElection) {
  const auto store = open();
  (void)hold(store, "s1", "a");
  const auto watching = watch(open(), "");
  const Record b = hold(store, "s2", "b");
  const auto told = [&](const std::string& election, bool held) {
    for (const ElectionState& state : watching->states()) {
      if (state.election == election && state.holder.has_value() == held) return true;
    }
    return false;
  };
  EXPECT_TRUE(pump([&] { return told("a", true) && told("b", true); }));
  ASSERT_TRUE(released(store, b));
  EXPECT_TRUE(pump([&] { return told("b", false); }));
  EXPECT_FALSE(told("a", false));
}

TEST_P(StoreConformance, AWatchOfOneElectionTellsNothingOfOthers) {
  const auto store = open();
  const auto watching = watch(open(), "a");
  (void)hold(store, "s1", "b");
  (void)hold(store, "s1", "a/b");
  (void)hold(store, "s1", "a");
  ASSERT_TRUE(soon_shows(watching, "s1"));
  for (const ElectionState& state : watching->states()) EXPECT_EQ(state.election, "a");
}

TEST_P(StoreConformance, ADestroyedWatchIsNotCalledAgain) {
  const auto store = open();
  const auto witness = watch(store);
  const auto watching = watch(store);
  ASSERT_TRUE(soon_shows(watching, "") && soon_shows(witness, ""));
  const std::size_t before = watching->count();
  world_->on_loop([&] { watching->watch.reset(); });
  (void)hold(store, "s1");
  ASSERT_TRUE(soon_shows(witness, "s1"));
  EXPECT_EQ(watching->count(), before);
}

TEST_P(StoreConformance, AWatchMayBeDestroyedFromWithinItsOwnCall) {
  const auto store = open();
  int calls = 0;
  std::unique_ptr<Watch> self;
  world_->on_loop([&] {
    self = store->watch({"e", {}}, [&](const Result<ElectionState>&) {
      ++calls;
      self.reset();
    });
  });
  EXPECT_TRUE(pump([&] { return calls > 0; }));
  const auto witness = watch(store);
  (void)hold(store, "s1");
  ASSERT_TRUE(soon_shows(witness, "s1"));
  EXPECT_EQ(calls, 1);
}

TEST_P(StoreConformance, AWatchEndsWithClosedWhenItsStoreIsClosed) {
  const auto store = open();
  const auto watching = watch(store);
  ASSERT_TRUE(soon_shows(watching, ""));
  close(store);
  ASSERT_TRUE(watching->error().has_value()) << "a watch ended silently";
  EXPECT_EQ(watching->error()->code, Errc::closed);
}

TEST_P(StoreConformance, WC01_AfterACutAWatchGivesThePresentStateOrEndsWithAnError) {
  const auto store = open();
  const auto watching = watch(open());
  const Record held = hold(store, "s1");
  ASSERT_TRUE(soon_shows(watching, "s1"));
  if (!world_->cut_watches()) GTEST_SKIP() << "watches cannot be cut";
  ASSERT_TRUE(released(store, held));
  (void)hold(store, "s2");
  EXPECT_TRUE(pump([&] { return watching->shows("s2") || watching->error().has_value(); }));
}

TEST_P(StoreConformance, EV03_ANewWatchIsAuthoritativeAboutWhatHasGone) {
  const auto store = open();
  const auto watcher = open();
  auto watching = watch(watcher);
  const Record held = hold(store, "s1");
  ASSERT_TRUE(soon_shows(watching, "s1"));
  world_->on_loop([&] { watching->watch.reset(); });
  ASSERT_TRUE(released(store, held));
  watching = watch(watcher);
  ASSERT_TRUE(pump([&] { return watching->count() > 0; }));
  EXPECT_EQ(watching->states().front().holder, std::nullopt);
}

}  // namespace tenure::testkit
