// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/view.h"

#include <gtest/gtest.h>

namespace tenure::etcd {
namespace {

KeyValue member(const std::string& key, Revision created, const std::string& value = "v") {
  return {key, value, created, created, 1};
}
WatchEvent put(const KeyValue& kv) { return {false, kv}; }
WatchEvent gone(const std::string& key, Revision at) { return {true, {key, {}, 0, at, 0}}; }

std::string head_of(const std::optional<View::Sight>& sight) {
  if (!sight) return "nothing told";
  return sight->head ? sight->head->key : "nobody";
}

// Three stand in line, we are the last: e/1 leads, e/2 is before us.
class EtcdViewPlace : public testing::Test {
 protected:
  void SetUp() override {
    view_.watch_place("e/3", 30);
    view_.read(30, {member("e/1", 10), member("e/2", 20), member("e/3", 30)});
    for (const char* key : {"e/1", "e/2", "e/3"}) view_.live(key, 30);
    ASSERT_EQ(head_of(view_.take()), "e/1");
    ASSERT_EQ(view_.need(), View::Need::nothing);
  }

  View view_{"e/", true};
};

TEST(EtcdView, TellsThePresentStateOnceItWasRead) {
  View view("e/", false);
  EXPECT_EQ(view.need(), View::Need::nothing) << "nobody has said where to stand";
  view.watch_election();
  EXPECT_EQ(view.wanted(), std::vector<std::string>{"e/"});
  EXPECT_EQ(view.need(), View::Need::soon);
  EXPECT_EQ(view.take(), std::nullopt);
  view.read(5, {});
  EXPECT_EQ(head_of(view.take()), "nobody");
  EXPECT_EQ(view.take(), std::nullopt) << "told once";
}

TEST(EtcdView, FollowsTheLineByItsEvents) {
  View view("e/", false);
  view.watch_election();
  view.live("e/", 5);
  view.read(5, {});
  ASSERT_EQ(head_of(view.take()), "nobody");
  view.event(put(member("e/1", 6)));
  EXPECT_EQ(head_of(view.take()), "e/1");
  view.event(put(member("e/2", 7)));
  EXPECT_EQ(view.take(), std::nullopt) << "one more waits; that changes nothing";
  view.event(put(member("e/x/9", 8)));
  view.event(gone("e/1", 9));
  const auto sight = view.take();
  EXPECT_EQ(head_of(sight), "e/2") << "what is nested is another election's";
  EXPECT_EQ(sight->as_of, 9);
  EXPECT_EQ(view.need(), View::Need::nothing);
}

TEST(EtcdView, ReadsAgainWhatHappenedBeforeTheWatchWasLive) {
  View view("e/", false);
  view.watch_election();
  view.read(5, {});
  (void)view.take();
  view.live("e/", 8);
  EXPECT_EQ(view.need(), View::Need::soon) << "6 to 8 were not seen by anybody";
  view.read(8, {member("e/1", 7)});
  EXPECT_EQ(view.need(), View::Need::nothing);
  EXPECT_EQ(head_of(view.take()), "e/1");
}

TEST(EtcdView, WC01_AfterAGapThePresentStateComesAgainAndNothingOldBefore) {
  View view("e/", false);
  view.watch_election();
  view.live("e/", 5);
  view.read(5, {member("e/1", 4)});
  ASSERT_EQ(head_of(view.take()), "e/1");
  view.live("e/", 2000);
  EXPECT_EQ(view.take(), std::nullopt);
  ASSERT_EQ(view.need(), View::Need::soon);
  view.read(2000, {member("e/1", 4)});
  EXPECT_EQ(head_of(view.take()), "e/1") << "said again, though it is the same";
}

TEST(EtcdView, IgnoresWhatTheReadHasSeenAlready) {
  View view("e/", false);
  view.watch_election();
  view.live("e/", 5);
  view.read(9, {member("e/2", 8)});
  ASSERT_EQ(head_of(view.take()), "e/2");
  view.event(put(member("e/1", 6)));
  view.event(gone("e/2", 7));
  EXPECT_EQ(view.take(), std::nullopt);
}

TEST_F(EtcdViewPlace, WatchesOnlyItselfItsPredecessorAndTheHead) {
  view_.read(60, {member("e/1", 10), member("e/2", 20), member("e/3", 30), member("e/4", 40)});
  EXPECT_EQ(view_.wanted(), (std::vector<std::string>{"e/3", "e/1", "e/2"}));
}

TEST_F(EtcdViewPlace, OnlyTheNextInLineIsWokenAtOnce) {
  view_.event(gone("e/1", 50));
  EXPECT_EQ(view_.take(), std::nullopt);
  EXPECT_EQ(view_.need(), View::Need::eventually) << "not next: no hurry";
}

TEST_F(EtcdViewPlace, ALeavingPredecessorWhoDidNotLeadIsReplacedAtOnce) {
  view_.event(gone("e/2", 50));
  EXPECT_EQ(view_.need(), View::Need::soon);
  view_.read(50, {member("e/1", 10), member("e/3", 30)});
  EXPECT_EQ(view_.take(), std::nullopt) << "the same one leads";
  view_.event(gone("e/1", 60));
  const auto sight = view_.take();
  EXPECT_EQ(head_of(sight), "e/3") << "our turn, without a read";
  EXPECT_EQ(sight->as_of, 60);
  EXPECT_TRUE(sight->in_line);
}

TEST_F(EtcdViewPlace, ST01_OurOwnKeysEndIsTold) {
  view_.event(gone("e/3", 50));
  const auto sight = view_.take();
  ASSERT_TRUE(sight.has_value());
  EXPECT_FALSE(sight->in_line);
  EXPECT_EQ(head_of(sight), "e/1");
}

TEST(EtcdView, CN06_AHoldersOwnDeletionIsToldBeforeAnyRead) {
  View view("e/", true);
  view.watch_place("e/3", 30);
  view.live("e/3", 29);
  view.read(30, {member("e/3", 30)});
  ASSERT_EQ(head_of(view.take()), "e/3");
  EXPECT_EQ(view.wanted(), std::vector<std::string>{"e/3"});
  view.event(gone("e/3", 40));
  const auto sight = view.take();
  EXPECT_EQ(head_of(sight), "nobody");
  EXPECT_FALSE(sight->in_line);
  EXPECT_EQ(sight->as_of, 40);
  EXPECT_EQ(view.need(), View::Need::soon) << "who leads now?";
}

TEST(EtcdView, AKeyThatIsOverwrittenIsToldAsWhatItIsNow) {
  View view("e/", true);
  view.watch_place("e/3", 30);
  view.live("e/3", 30);
  view.read(30, {member("e/3", 30)});
  (void)view.take();
  KeyValue permanent = member("e/3", 30, "somebody's");
  permanent.mod_revision = 40;
  permanent.lease = 0;
  view.event(put(permanent));
  const auto sight = view.take();
  ASSERT_TRUE(sight && sight->head);
  EXPECT_EQ(sight->head->lease, 0);
}

TEST(EtcdView, WithoutItsPredecessorAPlaceIsReadOnceMore) {
  View view("e/", true);
  view.watch_place("e/3", 30);
  view.read(30, {member("e/1", 10), member("e/3", 30)}, false);
  EXPECT_EQ(head_of(view.take()), "e/1") << "who leads is known all the same";
  EXPECT_EQ(view.need(), View::Need::soon);
}

TEST(EtcdView, ACandidateWithoutAPlaceIsNotInLine) {
  View view("e/", true);
  view.watch_election();
  view.read(5, {});
  EXPECT_FALSE(view.take()->in_line);
}

}  // namespace
}  // namespace tenure::etcd
