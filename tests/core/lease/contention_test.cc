// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/contention.h"

#include <gtest/gtest.h>

namespace tenure::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class ContentionTest : public testing::Test {
 protected:
  bool foreign() { return fight_.on_foreign(terms_, now_); }
  void make_contended() {
    while (!foreign()) now_ += seconds(1);
  }

  ContentionTerms terms_{.rewrites = 5, .window = minutes(1), .quiet = minutes(5), .trials = 11};
  Instant now_{seconds(1000)};
  Contention fight_;
};

TEST_F(ContentionTest, TheFifthForeignRewriteWithinTheWindowMakesItContended) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(foreign());
    EXPECT_FALSE(fight_.contended(now_));
    now_ += seconds(14);
  }
  EXPECT_TRUE(foreign());
  EXPECT_TRUE(fight_.contended(now_));
}

TEST_F(ContentionTest, RewritesThatAreFartherApartThanTheWindowAreNoFight) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(foreign());
    now_ += seconds(15);
  }
  EXPECT_FALSE(fight_.contended(now_));
}

TEST_F(ContentionTest, SilenceLetsWorkGoOn) {
  make_contended();
  now_ += minutes(5) - Duration(1);
  EXPECT_TRUE(fight_.contended(now_));
  now_ += Duration(1);
  EXPECT_FALSE(fight_.contended(now_));
}

TEST_F(ContentionTest, WhoIsNotSilentKeepsItContended) {
  make_contended();
  now_ += minutes(4);
  EXPECT_FALSE(foreign()) << "it is reported once";
  now_ += minutes(4);
  EXPECT_TRUE(fight_.contended(now_));
  now_ += minutes(1);
  EXPECT_FALSE(fight_.contended(now_));
}

TEST_F(ContentionTest, ATryAfterSilenceThatIsOverwrittenCostsTwiceTheTimeBefore) {
  make_contended();
  Duration pause = minutes(5);
  for (int i = 0; i < 10; ++i) {
    now_ += pause;
    EXPECT_FALSE(fight_.contended(now_));
    EXPECT_TRUE(foreign()) << "one is enough";
    pause *= 2;
    EXPECT_TRUE(fight_.contended(now_ + pause - Duration(1)));
    EXPECT_FALSE(fight_.contended(now_ + pause));
  }
}

TEST_F(ContentionTest, AfterAllItsTrialsSilenceCountsNoMore) {
  terms_.trials = 3;
  make_contended();
  Duration pause = minutes(5);
  for (int i = 0; i < 3; ++i) {
    now_ += pause;
    EXPECT_TRUE(foreign());
    pause *= 2;
  }
  now_ += std::chrono::hours(24 * 365 * 100);
  EXPECT_TRUE(fight_.contended(now_));
  EXPECT_FALSE(foreign()) << "it is reported once";
  EXPECT_TRUE(fight_.contended(now_ + std::chrono::hours(1)));
  EXPECT_EQ(fight_.forgettable(terms_), kNever);
  fight_.on_new_wish(now_);
  EXPECT_FALSE(fight_.contended(now_));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(foreign()) << "a new wish has all its rewrites again";
}

TEST_F(ContentionTest, WritesOfAKeyAreBoundedHoweverLongTheOthersInsist) {
  std::uint32_t writes = 0;
  const Instant end = now_ + std::chrono::hours(24 * 365 * 50);
  while (now_ < end) {
    const bool waits = fight_.contended(now_);
    now_ += waits ? minutes(1) : seconds(1);
    if (waits) continue;
    ++writes;
    foreign();
  }
  EXPECT_EQ(writes, terms_.rewrites + terms_.trials);
}

TEST_F(ContentionTest, SilenceAfterATryForgivesAll) {
  make_contended();
  now_ += minutes(5) + minutes(10);
  EXPECT_FALSE(foreign());
  EXPECT_FALSE(fight_.contended(now_));
}

TEST_F(ContentionTest, ANewWishStartsAfresh) {
  make_contended();
  fight_.on_new_wish(now_);
  EXPECT_FALSE(fight_.contended(now_));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(foreign());
  EXPECT_TRUE(foreign());
}

TEST_F(ContentionTest, MayBeForgottenAfterQuietAndAContendedOneAfterItsTrial) {
  fight_.touch(now_);
  EXPECT_EQ(fight_.forgettable(terms_), now_ + minutes(5));
  make_contended();
  EXPECT_EQ(fight_.forgettable(terms_), now_ + minutes(5) + minutes(10));
}

TEST_F(ContentionTest, EndlessDoublingSaturates) {
  terms_.quiet = kForever;
  for (int i = 0; i < 10; ++i) foreign();
  EXPECT_TRUE(fight_.contended(now_ + std::chrono::hours(1'000'000)));
}

}  // namespace
}  // namespace tenure::core
