// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/state.h"

#include <tenure/testkit/manual_clock.h>

#include <gtest/gtest.h>
#include <limits>

namespace tenure::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// One test a cell of the state table in docs/writer-lease.md.
class LeaseStateTable : public testing::Test {
 protected:
  void result(WorkEffect effect) { state_.on_result(effect, clock_.now()); }
  [[nodiscard]] Duration left() const { return state_.expires() - clock_.now(); }
  void lead() { result(WorkEffect::extend); }
  void follow(int ticks = 0) {
    result(WorkEffect::release);
    for (int i = 0; i < ticks; ++i) result(WorkEffect::release);
  }

  testkit::ManualClock clock_;
  LeaseState state_{LeaseTerms{.lease = seconds(60)}, 7};
};

TEST_F(LeaseStateTable, StartsElecting) {
  EXPECT_EQ(state_.state(), WriterState::electing);
  EXPECT_FALSE(state_.resolved());
  EXPECT_FALSE(state_.holds_back(clock_.now()));
}

TEST_F(LeaseStateTable, ElectingExtendLeadsForOneLease) {
  result(WorkEffect::extend);
  EXPECT_EQ(state_.state(), WriterState::leading);
  EXPECT_EQ(left(), seconds(60));
  EXPECT_TRUE(state_.resolved());
}

TEST_F(LeaseStateTable, ElectingReleaseFollowsForTheFirstBackoff) {
  result(WorkEffect::release);
  EXPECT_EQ(state_.state(), WriterState::following);
  EXPECT_EQ(state_.tick(), 0U);
  EXPECT_EQ(left(), milliseconds(20));
  EXPECT_TRUE(state_.resolved());
}

TEST_F(LeaseStateTable, ElectingNoneDecidesNothing) {
  result(WorkEffect::none);
  EXPECT_EQ(state_.state(), WriterState::electing);
  EXPECT_FALSE(state_.resolved());
}

TEST_F(LeaseStateTable, LeadingExtendRenewsTheLeaseFromNow) {
  lead();
  clock_.advance(seconds(40));
  result(WorkEffect::extend);
  EXPECT_EQ(state_.state(), WriterState::leading);
  EXPECT_EQ(left(), seconds(60));
}

TEST_F(LeaseStateTable, LeadingReleaseFollowsFromTheFirstStepAgain) {
  follow(4);
  lead();
  result(WorkEffect::release);
  EXPECT_EQ(state_.state(), WriterState::following);
  EXPECT_EQ(state_.tick(), 0U);
  EXPECT_EQ(left(), milliseconds(20));
}

TEST_F(LeaseStateTable, LeadingNoneChangesNothing) {
  lead();
  clock_.advance(seconds(1));
  result(WorkEffect::none);
  EXPECT_EQ(state_.state(), WriterState::leading);
  EXPECT_EQ(left(), seconds(59));
}

TEST_F(LeaseStateTable, FollowingExtendLeadsAndForgetsItsSteps) {
  follow(3);
  result(WorkEffect::extend);
  EXPECT_EQ(state_.state(), WriterState::leading);
  EXPECT_EQ(state_.tick(), 0U);
  EXPECT_EQ(left(), seconds(60));
}

TEST_F(LeaseStateTable, FollowingReleaseTakesTheNextStep) {
  follow();
  result(WorkEffect::release);
  EXPECT_EQ(state_.tick(), 1U);
  EXPECT_GE(left(), milliseconds(80));
  EXPECT_LE(left(), milliseconds(120));
  result(WorkEffect::release);
  EXPECT_EQ(state_.tick(), 2U);
  EXPECT_GE(left(), milliseconds(320));
  EXPECT_LE(left(), milliseconds(720));
}

TEST_F(LeaseStateTable, FollowingNoneChangesNothing) {
  follow(1);
  const Instant before = state_.expires();
  clock_.advance(milliseconds(5));
  result(WorkEffect::none);
  EXPECT_EQ(state_.tick(), 1U);
  EXPECT_EQ(state_.expires(), before);
}

TEST_F(LeaseStateTable, PastTheLastStepTheBackoffIsTheLease) {
  follow(6);
  EXPECT_EQ(state_.tick(), 6U);
  EXPECT_EQ(left(), seconds(60));
}

TEST_F(LeaseStateTable, BackoffIsNeverAboveTheLease) {
  state_ = LeaseState(LeaseTerms{.lease = milliseconds(15)}, 7);
  for (int i = 0; i < 10; ++i) {
    result(WorkEffect::release);
    EXPECT_LE(left(), milliseconds(15));
  }
}

TEST_F(LeaseStateTable, SeenElsewhereTakesAStepOnlyWhenFollowing) {
  state_.on_seen_elsewhere(clock_.now());
  EXPECT_EQ(state_.state(), WriterState::electing);
  lead();
  state_.on_seen_elsewhere(clock_.now());
  EXPECT_EQ(state_.state(), WriterState::leading);
  EXPECT_EQ(left(), seconds(60));
  follow();
  state_.on_seen_elsewhere(clock_.now());
  EXPECT_EQ(state_.state(), WriterState::following);
  EXPECT_EQ(state_.tick(), 1U);
  EXPECT_GE(left(), milliseconds(80));
}

TEST_F(LeaseStateTable, ALeadersOwnExpiryChangesNothing) {
  lead();
  clock_.advance(hours(5));
  EXPECT_EQ(state_.state(), WriterState::leading);
  EXPECT_FALSE(state_.holds_back(clock_.now()));
}

TEST_F(LeaseStateTable, ExpireEndsTheLeaseAndLeavesTheState) {
  follow(6);
  EXPECT_TRUE(state_.holds_back(clock_.now()));
  state_.expire();
  EXPECT_EQ(state_.state(), WriterState::following);
  EXPECT_EQ(state_.tick(), 6U);
  EXPECT_LT(state_.expires(), clock_.now());
  EXPECT_FALSE(state_.holds_back(clock_.now()));
}

TEST_F(LeaseStateTable, AFollowerIsHeldBackUntilTheVeryInstantOfExpiry) {
  follow();
  clock_.advance(milliseconds(20) - Duration(1));
  EXPECT_TRUE(state_.holds_back(clock_.now()));
  clock_.advance(Duration(1));
  EXPECT_FALSE(state_.holds_back(clock_.now()));
}

TEST_F(LeaseStateTable, SameSeedBacksOffTheSame) {
  LeaseState other{LeaseTerms{.lease = seconds(60)}, 7};
  LeaseState different{LeaseTerms{.lease = seconds(60)}, 8};
  for (int i = 0; i < 3; ++i) {
    result(WorkEffect::release);
    other.on_result(WorkEffect::release, clock_.now());
    different.on_result(WorkEffect::release, clock_.now());
  }
  EXPECT_EQ(state_.expires(), other.expires());
  EXPECT_NE(state_.expires(), different.expires());
}

}  // namespace
}  // namespace tenure::core
