// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/core.h"

#include "core_twin_run.h"

#include <gtest/gtest.h>
#include <string_view>
#include <utility>

namespace tenure::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LeaseCoreTest : public testing::Test {
 protected:
  void submit(std::string_view key) {
    core_.submit(
        key, hash_key(key), [] { return WorkResult{}; }, now_);
  }
  void finish(LeaseCore::Job job, WorkResult result) { core_.finish(std::move(job), result, now_); }
  void run_one(WorkResult result) {
    LeaseCore::Job job = core_.take(now_);
    ASSERT_TRUE(job);
    finish(std::move(job), result);
  }
  void follow() {
    submit("first");
    run_one({WorkEffect::release});
  }

  Instant now_{seconds(100)};
  LeaseCore core_{LeaseTerms{.lease = seconds(60)}, 1};
};

TEST_F(LeaseCoreTest, OnlyOnePieceProbesUntilItsResultIsKnown) {
  follow();
  submit("a");
  submit("b");
  now_ += seconds(60);
  LeaseCore::Job probe = core_.take(now_);
  ASSERT_TRUE(probe);
  EXPECT_TRUE(probe.probe);
  EXPECT_FALSE(core_.take(now_));
  EXPECT_EQ(core_.next_due(), kNever);
  core_.expire();
  EXPECT_FALSE(core_.take(now_)) << "expire() does not let a second probe out";
  finish(std::move(probe), {WorkEffect::extend});
  LeaseCore::Job next = core_.take(now_);
  ASSERT_TRUE(next);
  EXPECT_FALSE(next.probe);
}

TEST_F(LeaseCoreTest, AProbeWithoutAnAnswerLetsTheNextOneProbe) {
  follow();
  submit("a");
  submit("b");
  now_ += seconds(60);
  run_one({WorkEffect::none});
  LeaseCore::Job next = core_.take(now_);
  ASSERT_TRUE(next);
  EXPECT_TRUE(next.probe);
  EXPECT_EQ(next.key, "b");
}

TEST_F(LeaseCoreTest, AFailedProbeHoldsTheOthersBackForTheNextStep) {
  follow();
  submit("a");
  submit("b");
  now_ += milliseconds(40);
  run_one({WorkEffect::release});
  EXPECT_FALSE(core_.take(now_));
  EXPECT_EQ(core_.next_due(), core_.state().expires());
  EXPECT_GE(core_.next_due(), now_ + milliseconds(80));
}

TEST_F(LeaseCoreTest, WorkThatRanBeforeTheProbeMayDecideToo) {
  submit("slow");
  LeaseCore::Job slow = core_.take(now_);
  follow();
  submit("a");
  submit("b");
  now_ += milliseconds(40);
  LeaseCore::Job probe = core_.take(now_);
  ASSERT_TRUE(probe);
  finish(std::move(slow), {WorkEffect::extend});
  EXPECT_EQ(core_.state().state(), WriterState::leading);
  EXPECT_TRUE(core_.take(now_));
  finish(std::move(probe), {WorkEffect::extend});
}

TEST(LeaseCore, AgreesWithItsNaiveTwinOverRandomInputsAndTimes) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    TwinRun(seed).run(2000);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tenure::core
