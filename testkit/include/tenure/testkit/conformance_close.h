// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/conformance_fixture.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

/// list(), close(), limits, and completions.
namespace tenure::testkit {

TEST_P(StoreConformance, ListShowsTheRecordAsItWasGranted) {
  const auto store = open();
  const Record held = hold(store, "s1");
  const auto states = list(open());
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].election, "e");
  EXPECT_GE(states[0].as_of, held.revision);
  ASSERT_TRUE(states[0].holder.has_value());
  Record shown = *states[0].holder;
  EXPECT_TRUE(shown.expires_at > now());
  // Of the times only what the store can tell is told.
  if (store->traits().private_sessions) shown.session = held.session;
  shown.acquired_at = held.acquired_at;
  shown.expires_at = held.expires_at;
  EXPECT_EQ(shown, held);
}

TEST_P(StoreConformance, ListIsOrderedByNameAndHoldsEachOnce) {
  const auto store = open();
  for (const std::string name : {"b", "a/z", "B", "c", "a", "\xC3\xA9"}) {
    (void)hold(store, "s1", name);
  }
  std::vector<std::string> names;
  for (const ElectionState& state : list(store)) names.push_back(state.election);
  EXPECT_EQ(names, (std::vector<std::string>{"B", "a", "a/z", "b", "c", "\xC3\xA9"}))
      << "ordered by bytes";
}

TEST_P(StoreConformance, ListOfOneElectionShowsThatOneOnly) {
  const auto store = open();
  (void)hold(store, "s1", "a");
  (void)hold(store, "s2", "a/b");
  const auto states = list(store, "a");
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].election, "a");
  EXPECT_EQ(states[0].holder->session, "s1");
}

TEST_P(StoreConformance, ListAndWatchCreateNothing) {
  const auto store = open();
  const auto watching = watch(store, "looked at");
  ASSERT_TRUE(soon_shows(watching, ""));
  // maybe: an election nobody ever stood in is left out, or is free.
  const auto one = list(store, "looked at");
  ASSERT_LE(one.size(), 1U);
  for (const ElectionState& state : one) EXPECT_EQ(state.holder, std::nullopt);
  EXPECT_TRUE(list(store).empty()) << "looking made something";
}

TEST_P(StoreConformance, ListShowsNobodyWhereTheRecordIsGone) {
  const auto store = open();
  ASSERT_TRUE(released(store, hold(store, "s1", "released")));
  const Record held = hold(store, "s1", "lapsed");
  world_->pass(held.ttl + world_->slack());
  const bool judges = store->traits().expiry == ExpiryBy::store;
  for (const ElectionState& state : list(store)) {
    if (state.election == "lapsed" && !judges) continue;
    EXPECT_EQ(state.holder, std::nullopt) << state.election;
  }
}

TEST_P(StoreConformance, AfterCloseEveryVerbAnswersClosed) {
  const auto store = open();
  const Record held = hold(store, "s1");
  close(store);
  EXPECT_EQ(acquire(store, asking("s2")).error().code, Errc::closed);
  EXPECT_EQ(renew(store, held, ttl()).error().code, Errc::closed);
  EXPECT_EQ(release(store, "e", "s1", 0).error().code, Errc::closed);
  EXPECT_EQ(wait(begin(store, &LeaseStore::list, ListRequest{})).error().code, Errc::closed);
  const auto watching = watch(store);
  ASSERT_TRUE(pump([&] { return watching->error().has_value(); }));
  EXPECT_EQ(watching->error()->code, Errc::closed);
  EXPECT_EQ(watching->count(), 0U);
}

TEST_P(StoreConformance, CloseAnswersWhatIsInFlightBeforeItIsDone) {
  const auto store = open();
  std::vector<Pending<AcquireReply>> answers;
  for (int i = 0; i < 5; ++i) {
    answers.push_back(begin_acquire(store, asking("s1", "e" + std::to_string(i))));
  }
  close(store);
  for (const auto& answer : answers) EXPECT_TRUE(answer->here());
}

TEST_P(StoreConformance, CloseIsDoneEachTimeItIsAskedFor) {
  const auto store = open();
  close(store);
  close(store);
}

TEST_P(StoreConformance, TraitsAreConstant) {
  const auto store = open();
  const StoreTraits before = store->traits();
  EXPECT_FALSE(before.kind.empty());
  EXPECT_GT(before.min_ttl, Duration::zero());
  (void)hold(store, "s1");
  close(store);
  EXPECT_EQ(store->traits().kind, before.kind);
  EXPECT_EQ(store->traits().expiry, before.expiry);
  EXPECT_EQ(store->traits().has_queue, before.has_queue);
  EXPECT_EQ(store->traits().min_ttl, before.min_ttl);
}

TEST_P(StoreConformance, ARequestMayBeMadeFromWithinTheCompletionOfAnother) {
  const auto store = open();
  auto second = std::make_shared<conformance::Answer<ReleaseReply>>();
  world_->on_loop([&] {
    store->acquire(asking("s1"), [&, second](const Result<AcquireReply>& reply) {
      ASSERT_TRUE(reply && reply->ours);
      second->begin();
      store->release({"e", "s1", reply->record->revision, kNever},
                     [second](Result<ReleaseReply> result) { second->take(std::move(result)); });
      second->end();
    });
  });
  EXPECT_TRUE(wait(second)->released);
}

TEST_P(StoreConformance, ARequestWhoseLimitHasPassedChangesNothingUnlessItSaysThatItMay) {
  const auto store = open();
  AcquireRequest request = asking("s1");
  request.limit = now() - std::chrono::seconds(1);
  const auto reply = acquire(store, request);
  ASSERT_FALSE(reply.has_value()) << "the limit had passed";
  if (reply.error().code == Errc::unavailable) {
    EXPECT_EQ(holder(store), std::nullopt);
  } else {
    EXPECT_EQ(reply.error().code, Errc::outcome_unknown);
  }
}

TEST_P(StoreConformance, ST04_EveryVerbAnswersByItsLimitThoughTheBackendDoesNot) {
  const auto store = open();
  const Record held = hold(store, "s1");
  if (!world_->set_stalled(true)) GTEST_SKIP() << "the backend cannot be stalled";
  const Instant limit = now() + ttl() / 4;
  AcquireRequest request = asking("s2", "other");
  request.limit = limit;
  const auto acquired = begin_acquire(store, request);
  const auto renewed = begin(store, &LeaseStore::renew, RenewRequest{held, ttl(), limit});
  const auto let_go =
      begin(store, &LeaseStore::release, ReleaseRequest{"e", "s1", held.revision, limit});
  pass_until(limit + world_->slack());
  const auto fits = [](const auto& reply) {
    return !reply.has_value() &&
           (reply.error().code == Errc::unavailable || reply.error().code == Errc::outcome_unknown);
  };
  const auto acquire_reply = wait(acquired);
  EXPECT_TRUE(fits(acquire_reply));
  EXPECT_TRUE(fits(wait(renewed)));
  const auto release_reply = wait(let_go);
  EXPECT_TRUE(fits(release_reply));
  EXPECT_TRUE(world_->set_stalled(false));
  if (!acquire_reply && acquire_reply.error().code == Errc::unavailable) {
    EXPECT_EQ(holder(store, "other"), std::nullopt) << "unavailable means: surely not done";
  }
  if (!release_reply && release_reply.error().code == Errc::unavailable) {
    EXPECT_TRUE(holder(store).has_value()) << "unavailable means: surely not done";
  }
}

}  // namespace tenure::testkit
