// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/events.h>

#include <gtest/gtest.h>

namespace tenure {
namespace {

TEST(Names, EveryReasonForALossHasItsOwnNameAsInTheDocuments) {
  EXPECT_EQ(to_string(LossReason::expired), "expired");
  EXPECT_EQ(to_string(LossReason::taken_over), "taken_over");
  EXPECT_EQ(to_string(LossReason::deleted), "deleted");
  EXPECT_EQ(to_string(LossReason::yielded), "yielded");
  EXPECT_EQ(to_string(LossReason::stopped), "stopped");
  EXPECT_EQ(to_string(LossReason::unauthorized), "unauthorized");
  EXPECT_EQ(to_string(LossReason::fatal), "fatal");
}

TEST(Names, EveryPhaseHasItsOwnNameAsInTheDocuments) {
  EXPECT_EQ(to_string(Phase::idle), "idle");
  EXPECT_EQ(to_string(Phase::standing), "standing");
  EXPECT_EQ(to_string(Phase::leading), "leading");
  EXPECT_EQ(to_string(Phase::stepping_down), "stepping_down");
  EXPECT_EQ(to_string(Phase::pausing), "pausing");
  EXPECT_EQ(to_string(Phase::stopped), "stopped");
}

TEST(Names, ValueOutsideTheEnumerationIsNamedUnknownAndNotFollowed) {
  EXPECT_EQ(to_string(static_cast<LossReason>(99)), "unknown");
  EXPECT_EQ(to_string(static_cast<Phase>(99)), "unknown");
}

}  // namespace
}  // namespace tenure
