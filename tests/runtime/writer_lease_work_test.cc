// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writer_lease_contract.h"

#include <tenure/writer_lease.h>

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tenure::test {
namespace {

using WriterLeaseWork = WriterLeaseContract;

// RT-05: work is never lost while it backs off; it goes only when it was seen done elsewhere.
TEST_F(WriterLeaseWork, RT05_ConflictingWorkIsKeptUntilItIsSeenDoneElsewhere) {
  submit("a", {WorkEffect::release, true});
  for (int i = 0; i < 20; ++i) {
    poll();
    clock_.advance(seconds(61));
  }
  EXPECT_EQ(lease_.size(), 1U);
  EXPECT_GE(lease_.counters().retries, 19U);
  EXPECT_TRUE(lease_.extend("a"));
  EXPECT_EQ(lease_.size(), 0U);
}

// RT-05: and finding nothing to do does not extend a lease, which would keep others waiting.
TEST_F(WriterLeaseWork, RT05_WorkWithNothingToDoExtendsNoLease) {
  lead();
  clock_.advance(seconds(10));
  submit("a", {WorkEffect::none});
  poll();
  EXPECT_EQ(left(), seconds(50));
}

TEST_F(WriterLeaseWork, WorkThatThrowsCountsAsReleaseAndRetryAndIsReported) {
  lead();
  ASSERT_TRUE(lease_.try_work("bad", []() -> WorkResult { throw std::runtime_error("broken"); }));
  poll();
  EXPECT_EQ(thrown_, std::vector<std::string>{"bad: broken"});
  EXPECT_EQ(lease_.state(), WriterState::following);
  EXPECT_EQ(lease_.size(), 1U);
  EXPECT_EQ(lease_.counters().threw, 1U);
  EXPECT_EQ(lease_.counters().retries, 1U);
  clock_.advance(seconds(1));
  poll();
  EXPECT_EQ(thrown_.size(), 2U);
}

TEST_F(WriterLeaseWork, LimitedRetriesEndEvenWhenTheWorkThrows) {
  ASSERT_TRUE(lease_.try_work(
      "bad", limit_retries(2, []() -> WorkResult { throw std::runtime_error("broken"); })));
  for (int i = 0; i < 10; ++i) {
    poll();
    clock_.advance(seconds(61));
  }
  EXPECT_EQ(thrown_.size(), 3U);
  EXPECT_EQ(lease_.size(), 0U);
}

TEST_F(WriterLeaseWork, StateChangesAreToldInOrder) {
  std::vector<WriterState> seen;
  lease_.on_state_change([&](WriterState state) { seen.push_back(state); });
  lead();
  follow();
  clock_.advance(seconds(1));
  submit("a", {WorkEffect::extend});
  clock_.advance(milliseconds(40));
  poll();
  EXPECT_EQ(seen,
            (std::vector{WriterState::leading, WriterState::following, WriterState::leading}));
  EXPECT_EQ(lease_.counters().state_changes, 3U);
  lease_.on_state_change(nullptr);
  submit("a", {WorkEffect::release});
  poll();
  EXPECT_EQ(seen.size(), 3U);
}

TEST_F(WriterLeaseWork, AnObserverThatThrowsIsReportedAndTheRestGoesOn) {
  lease_.on_state_change([](WriterState) { throw std::runtime_error("observer"); });
  lead();
  EXPECT_EQ(thrown_, std::vector<std::string>{": observer"});
  EXPECT_EQ(lease_.state(), WriterState::leading);
}

TEST_F(WriterLeaseWork, TheDescriptorIsReadableWhenWorkIsDueAndTheClockFiresIt) {
  ASSERT_GE(lease_.fd(), 0);
  follow();
  clock_.advance(seconds(1));
  submit("a", {});
  EXPECT_EQ(lease_.next_due(), clock_.now() + milliseconds(40));
  EXPECT_EQ(clock_.next_timer(), clock_.now() + milliseconds(40));
  clock_.advance(milliseconds(40));
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseWork, WaitRunsTheWorkItWaitsFor) {
  submit("a", {WorkEffect::none});
  submit("b", {WorkEffect::extend});
  EXPECT_EQ(lease_.wait(), Result<bool>(true));
}

TEST_F(WriterLeaseWork, WaitFromInsideWorkIsRefused) {
  ASSERT_TRUE(lease_.try_work("a", [this] {
    const auto waited = lease_.wait();
    EXPECT_FALSE(waited);
    if (!waited) {
      EXPECT_EQ(waited.error().code, Errc::unsupported);
    }
    return WorkResult{WorkEffect::extend};
  }));
  EXPECT_EQ(lease_.poll(), 1U);
}

TEST_F(WriterLeaseWork, StopDropsWhatWaitsAndRefusesWhatComes) {
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  EXPECT_TRUE(lease_.stop(seconds(1)));
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(lease_.size(), 0U);
  EXPECT_EQ(lease_.counters().abandoned, 1U);
  const auto refused = lease_.try_work("b", [] { return WorkResult{}; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::closed);
  EXPECT_EQ(lease_.poll(), 0U);
  const auto waited = lease_.wait();
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Errc::closed);
}

TEST_F(WriterLeaseWork, StopFromInsideWorkReturnsAndThePieceIsTheLast) {
  ASSERT_TRUE(lease_.try_work("a", [this] {
    ran_.push_back("a");
    EXPECT_TRUE(lease_.stop(seconds(1)));
    return WorkResult{WorkEffect::extend, true};
  }));
  submit("b", {});
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.size(), 0U);
  EXPECT_EQ(lease_.counters().abandoned, 2U);
}

TEST_F(WriterLeaseWork, ManyKeysAreServedInTheOrderInWhichTheyCame) {
  Ran expected;
  for (int i = 0; i < 1000; ++i) {
    expected.push_back("key-" + std::to_string(i));
    submit(expected.back(), {});
  }
  EXPECT_EQ(poll(), expected);
}

struct BadOption {
  const char* names;
  WriterLeaseOptions options;
};

TEST(WriterLeaseOptionsTest, EachBadValueIsRefusedByName) {
  const BadOption cases[] = {
      {"lease", {.lease = Duration::zero()}},
      {"lease", {.lease = seconds(-1)}},
      {"retry_interval", {.retry_interval = seconds(-1)}},
      {"backoff.first", {.backoff = {.first = seconds(-1)}}},
      {"backoff.factor", {.backoff = {.factor = 0.5}}},
      {"backoff.jitter", {.backoff = {.jitter = -0.1}}},
      {"backoff.jitter", {.backoff = {.jitter = 1.5}}},
      {"backoff.steps", {.backoff = {.steps = 65}}},
      {"workers", {.workers = 257}},
      {"stop_limit", {.stop_limit = seconds(-1)}},
  };
  for (const BadOption& bad : cases) {
    const auto lease = WriterLease::create(bad.options);
    ASSERT_FALSE(lease) << bad.names;
    EXPECT_EQ(lease.error().code, Errc::invalid_argument);
    EXPECT_EQ(lease.error().message.find(std::string(bad.names) + ": is "), 0U)
        << lease.error().message;
  }
}

TEST_F(WriterLeaseWork, EmptyWorkAndHugeKeysAreRefused) {
  EXPECT_EQ(lease_.try_work("a", Work()).error().code, Errc::invalid_argument);
  EXPECT_EQ(lease_.try_work(std::string(65537, 'k'), [] { return WorkResult{}; }).error().code,
            Errc::invalid_argument);
  EXPECT_TRUE(lease_.try_work(std::string(65536, 'k'), [] { return WorkResult{}; }));
  EXPECT_TRUE(lease_.try_work("", [] { return WorkResult{}; }));
}

TEST_F(WriterLeaseWork, AHandleCanBeMovedAndAssigned) {
  submit("a", {});
  WriterLease other = std::move(lease_);
  EXPECT_EQ(other.size(), 1U);
  other = make();
  EXPECT_EQ(other.size(), 0U);
  lease_ = std::move(other);
  EXPECT_EQ(lease_.size(), 0U);
}

}  // namespace
}  // namespace tenure::test
