// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/contention.h"

#include <gtest/gtest.h>

namespace tenure::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class ContentionTest : public testing::Test {
 protected:
  bool foreign() { return fight_.on_foreign(terms_, now_); }
  void make_contended() {
    while (!foreign()) now_ += seconds(1);
  }

  ContentionTerms terms_{.rewrites = 5, .window = minutes(1), .quiet = minutes(5), .most = 20};
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

// RT-05: however slowly they come, foreign rewrites are counted, so that writes have an end.
TEST_F(ContentionTest, RT05_ASlowFightIsContendedAfterFourTimesAsManyRewritesForGood) {
  for (const Duration apart : {Duration(seconds(15)), Duration(minutes(10)), Duration(hours(23))}) {
    fight_ = Contention();
    for (int i = 0; i < 19; ++i) {
      EXPECT_FALSE(foreign());
      now_ += apart;
      EXPECT_FALSE(fight_.contended(now_));
      EXPECT_GT(fight_.forgettable(terms_), now_) << "nor is it forgotten between two of them";
    }
    EXPECT_TRUE(foreign());
    EXPECT_TRUE(fight_.contended(now_ + hours(24 * 365)));
  }
}

TEST_F(ContentionTest, WhatIsRewrittenOnceADayIsNoFight) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(foreign());
    now_ += hours(12);
    fight_.touch(now_);
    now_ += hours(12);
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

TEST_F(ContentionTest, AfterAllItsRewritesSilenceCountsNoMore) {
  make_contended();
  Duration pause = minutes(5);
  for (int i = 0; i < 15; ++i) {
    now_ += pause;
    EXPECT_FALSE(fight_.contended(now_));
    EXPECT_TRUE(foreign());
    pause *= 2;
  }
  now_ += hours(24 * 365 * 100);
  EXPECT_TRUE(fight_.contended(now_));
  EXPECT_FALSE(foreign()) << "it is reported once";
  EXPECT_TRUE(fight_.contended(now_ + hours(1)));
  EXPECT_EQ(fight_.forgettable(terms_), kNever);
  fight_.on_new_wish(now_);
  EXPECT_FALSE(fight_.contended(now_));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(foreign()) << "a new wish has all its rewrites again";
}

// Others that fight on while we stand still do not use up our tries; their tries after silence do.
TEST_F(ContentionTest, WhileContendedEachRoundOfTheOthersCountsOnce) {
  make_contended();
  for (int i = 0; i < 1000; ++i) {
    now_ += seconds(1);
    EXPECT_FALSE(foreign());
  }
  now_ += minutes(5);
  EXPECT_FALSE(fight_.contended(now_)) << "the others fell silent";
  EXPECT_TRUE(foreign());
  for (int round = 0; round < 14; ++round) {
    now_ += minutes(6);
    EXPECT_FALSE(foreign());
  }
  EXPECT_TRUE(fight_.contended(now_ + hours(24 * 365)));
}

TEST_F(ContentionTest, RT05_WritesOfAKeyAreBoundedHoweverLongTheOthersInsist) {
  std::uint32_t writes = 0;
  const Instant end = now_ + hours(24 * 365 * 100);
  while (now_ < end) {
    const bool waits = fight_.contended(now_);
    now_ += waits ? hours(1) : seconds(1);
    if (waits) continue;
    ++writes;
    foreign();
  }
  EXPECT_EQ(writes, terms_.most);
}

TEST_F(ContentionTest, SilenceAfterATryGivesAllRewritesOfAWindowAgain) {
  make_contended();
  now_ += minutes(5) + minutes(10);
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(foreign());
  EXPECT_FALSE(fight_.contended(now_));
}

TEST_F(ContentionTest, ANewWishStartsAfresh) {
  make_contended();
  fight_.on_new_wish(now_);
  EXPECT_FALSE(fight_.contended(now_));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(foreign());
  EXPECT_TRUE(foreign());
}

TEST_F(ContentionTest, MayBeForgottenADayAfterItsLastUseAndAContendedOneAfterItsTrial) {
  fight_.touch(now_);
  EXPECT_EQ(fight_.forgettable(terms_), now_ + hours(24));
  terms_.forget_after = minutes(1);
  make_contended();
  EXPECT_EQ(fight_.forgettable(terms_), now_ + minutes(5) + minutes(10));
}

TEST_F(ContentionTest, EndlessDoublingSaturates) {
  terms_.quiet = kForever;
  for (int i = 0; i < 10; ++i) foreign();
  EXPECT_TRUE(fight_.contended(now_ + hours(1'000'000)));
}

}  // namespace
}  // namespace tenure::core
