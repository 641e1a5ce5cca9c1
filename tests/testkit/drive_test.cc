// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/testkit/drive.h>

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace tenure::testkit {
namespace {

using namespace std::chrono_literals;

class DriveTest : public testing::Test {
 protected:
  ManualClock clock_;
  std::unique_ptr<Runtime> runtime_ =
      Runtime::create({.threads = Threads::caller, .clock = &clock_, .seed = 7}).value();
};

TEST_F(DriveTest, PassRunsEachTimerAtTheVeryInstantItIsDue) {
  const Instant start = clock_.now();
  std::vector<Instant> ran;
  std::unique_ptr<Executor::Handle> second;
  const auto first = runtime_->at(start + 3s, [&] {
    ran.push_back(clock_.now());
    second = runtime_->at(clock_.now() + 4s, [&] { ran.push_back(clock_.now()); });
  });
  EXPECT_TRUE(pass(*runtime_, clock_, 10s));
  EXPECT_EQ(ran, (std::vector<Instant>{start + 3s, start + 7s}));
  EXPECT_EQ(clock_.now(), start + 10s);
}

TEST_F(DriveTest, SettleRunsWhatIsPostedAndLetsNoTimePass) {
  const Instant start = clock_.now();
  int ran = 0;
  runtime_->post([&] {
    ++ran;
    runtime_->post([&] { ++ran; });
  });
  EXPECT_TRUE(settle(*runtime_));
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(clock_.now(), start);
}

TEST_F(DriveTest, SaysThatATaskRepeatsItselfForEver) {
  std::function<void()> again = [&] { runtime_->post(again); };
  runtime_->post(again);
  EXPECT_FALSE(settle(*runtime_));
}

}  // namespace
}  // namespace tenure::testkit
