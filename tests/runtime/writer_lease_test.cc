// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Every row of the state table and every sentence of the contract in docs/writer-lease.md, through
// the public interface, caller-driven, on a manual clock.
#include <tenure/writer_lease.h>

#include <tenure/testkit/manual_clock.h>

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tenure {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class WriterLeaseContract : public testing::Test {
 protected:
  WriterLease make() {
    auto lease =
        WriterLease::create({.lease = seconds(60),
                             .retry_interval = seconds(1),
                             .workers = 0,
                             .seed = 7,
                             .clock = &clock_,
                             .on_exception = [this](std::string_view key, std::exception_ptr what) {
                               try {
                                 std::rethrow_exception(what);
                               } catch (const std::exception& error) {
                                 thrown_.push_back(std::string(key) + ": " + error.what());
                               }
                             }});
    EXPECT_TRUE(lease.has_value());
    return std::move(*lease);
  }
  void submit(const std::string& key, WorkResult result, const std::string& name = "") {
    EXPECT_TRUE(lease_.try_work(key, [this, result, name = name.empty() ? key : name] {
      ran_.push_back(name);
      return result;
    }));
  }
  std::vector<std::string> poll() {
    ran_.clear();
    while (lease_.poll() > 0) {
    }
    return std::exchange(ran_, {});
  }
  void lead() {
    submit("lead", {WorkEffect::extend});
    poll();
    ASSERT_EQ(lease_.state(), WriterState::leading);
  }
  void follow() {
    submit("follow", {WorkEffect::release});
    poll();
    ASSERT_EQ(lease_.state(), WriterState::following);
  }
  // Follows with the whole lease to go.
  void follow_for_a_lease() {
    follow();
    for (int i = 0; i < 6; ++i) {
      submit("seen", {});
      EXPECT_TRUE(lease_.extend("seen"));
    }
    ASSERT_EQ(left(), seconds(60));
  }
  [[nodiscard]] Duration left() const { return lease_.status().expires - clock_.now(); }
  using Ran = std::vector<std::string>;

  testkit::ManualClock clock_;
  std::vector<std::string> thrown_;
  std::vector<std::string> ran_;
  WriterLease lease_ = make();
};

TEST_F(WriterLeaseContract, ElectingRunsNewWorkAtOnce) {
  EXPECT_EQ(lease_.state(), WriterState::electing);
  submit("a", {});
  EXPECT_EQ(lease_.next_due(), kLongAgo);
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.next_due(), kNever);
}

TEST_F(WriterLeaseContract, ElectingStaysOnNoneAndWaitIsNotResolved) {
  submit("a", {WorkEffect::none});
  poll();
  EXPECT_EQ(lease_.state(), WriterState::electing);
  const auto waited = lease_.wait_until(Duration::zero());
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Errc::timed_out);
}

TEST_F(WriterLeaseContract, ElectingLeadsOnExtendForOneLease) {
  lead();
  EXPECT_EQ(left(), seconds(60));
  EXPECT_EQ(lease_.wait(), Result<bool>(true));
}

TEST_F(WriterLeaseContract, ElectingFollowsOnReleaseForTheFirstBackoff) {
  follow();
  EXPECT_EQ(left(), milliseconds(20));
  EXPECT_EQ(lease_.status().tick, 0U);
  EXPECT_EQ(lease_.wait(), Result<bool>(false));
}

TEST_F(WriterLeaseContract, LeadingRunsNewWorkAtOnceEvenWhenItsOwnLeaseHasPassed) {
  lead();
  clock_.advance(hours(2));
  submit("a", {});
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.state(), WriterState::leading);
}

TEST_F(WriterLeaseContract, FollowingWorkWaitsUntilTheLeaseHasExpired) {
  follow_for_a_lease();
  submit("a", {WorkEffect::extend});
  clock_.advance(seconds(60) - Duration(1));
  EXPECT_EQ(poll(), Ran{});
  clock_.advance(Duration(1));
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.state(), WriterState::leading);
  EXPECT_EQ(lease_.status().tick, 0U);
  EXPECT_EQ(left(), seconds(60));
}

TEST_F(WriterLeaseContract, FollowingWorkWaitsTwiceTheFirstBackoffAtTheLeast) {
  follow();
  clock_.advance(seconds(1));
  submit("a", {});
  clock_.advance(milliseconds(40) - Duration(1));
  EXPECT_EQ(poll(), Ran{});
  clock_.advance(Duration(1));
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, FollowingReleaseStandsBackOneStepMore) {
  follow();
  submit("a", {WorkEffect::release});
  clock_.advance(milliseconds(40));
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.status().tick, 1U);
  EXPECT_GE(left(), milliseconds(80));
  EXPECT_LE(left(), milliseconds(120));
}

TEST_F(WriterLeaseContract, ReleaseDoneDropsTheWorkAndReleaseRetryKeepsIt) {
  submit("dropped", {WorkEffect::release});
  submit("kept", {WorkEffect::release, true});
  clock_.advance(seconds(1));
  poll();
  clock_.advance(seconds(1));
  poll();
  EXPECT_EQ(lease_.size(), 1U);
  EXPECT_EQ(lease_.counters().done, 1U);
}

TEST_F(WriterLeaseContract, NewestWorkReplacesAnOlderOneOfItsKey) {
  submit("a", {}, "old");
  submit("a", {}, "new");
  EXPECT_EQ(lease_.size(), 1U);
  EXPECT_EQ(poll(), Ran{"new"});
  EXPECT_EQ(lease_.counters().replaced, 1U);
}

TEST_F(WriterLeaseContract, WorkForItsOwnKeyFromInsideRunsAfterIt) {
  ASSERT_TRUE(lease_.try_work("a", [this] {
    submit("a", {}, "second");
    EXPECT_EQ(lease_.size(), 1U);
    return WorkResult{WorkEffect::extend, true};
  }));
  EXPECT_EQ(poll(), Ran{"second"});
  EXPECT_EQ(lease_.size(), 0U);
}

TEST_F(WriterLeaseContract, WorkThatRemovesItselfIsNotRetried) {
  ASSERT_TRUE(lease_.try_work("a", [this] {
    EXPECT_TRUE(lease_.remove("a"));
    EXPECT_EQ(lease_.size(), 0U);
    return WorkResult{WorkEffect::none, true};
  }));
  poll();
  clock_.advance(hours(1));
  EXPECT_EQ(lease_.poll(), 0U);
  EXPECT_EQ(lease_.counters().removed, 1U);
}

TEST_F(WriterLeaseContract, RetryRunsAgainAfterTheRetryInterval) {
  lead();
  submit("a", {WorkEffect::none, true});
  EXPECT_EQ(poll(), Ran{"a"});
  EXPECT_EQ(lease_.next_due(), clock_.now() + seconds(1));
  clock_.advance(seconds(1) - Duration(1));
  EXPECT_EQ(poll(), Ran{});
  clock_.advance(Duration(1));
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, AFollowersRetryWaitsForTheLeaseToo) {
  follow_for_a_lease();
  clock_.advance(seconds(60));
  submit("a", {WorkEffect::release, true});
  clock_.advance(milliseconds(40));
  EXPECT_EQ(poll(), Ran{"a"});
  ASSERT_EQ(left(), seconds(60));
  clock_.advance(seconds(59));
  EXPECT_EQ(poll(), Ran{});
  clock_.advance(seconds(1));
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, ExpireMakesAFollowersWorkDueAtOnceAndLeavesTheState) {
  follow_for_a_lease();
  submit("a", {WorkEffect::extend});
  lease_.expire();
  EXPECT_EQ(lease_.state(), WriterState::following);
  EXPECT_LT(lease_.status().expires, clock_.now());
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, ExpireOfALeaderChangesNothingThatRuns) {
  lead();
  lease_.expire();
  EXPECT_EQ(lease_.state(), WriterState::leading);
  submit("a", {});
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, OnceLeadingAllThatWaitedForTheLeaseRunsAtOnce) {
  follow_for_a_lease();
  submit("a", {WorkEffect::extend});
  submit("b", {WorkEffect::extend});
  clock_.advance(seconds(59) + milliseconds(990));
  submit("c", {WorkEffect::extend});
  clock_.advance(milliseconds(10));
  EXPECT_EQ(poll(), (Ran{"a", "b", "c"})) << "c need not rest once this process leads";
}

TEST_F(WriterLeaseContract, ExtendDropsPendingWorkAndAFollowerStandsBackAStepMore) {
  follow();
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  EXPECT_EQ(memory.use_count(), 2);
  EXPECT_TRUE(lease_.extend("a"));
  EXPECT_EQ(memory.use_count(), 1) << "memory of dropped work is freed at once";
  EXPECT_EQ(lease_.status().tick, 1U);
  EXPECT_GE(left(), milliseconds(80));
  EXPECT_EQ(lease_.size(), 0U);
  EXPECT_EQ(lease_.counters().seen_elsewhere, 1U);
}

TEST_F(WriterLeaseContract, ExtendOfAKeyWithNothingPendingDoesNothing) {
  follow();
  const Instant before = lease_.status().expires;
  EXPECT_FALSE(lease_.extend("nothing"));
  EXPECT_EQ(lease_.status().tick, 0U);
  EXPECT_EQ(lease_.status().expires, before);
}

TEST_F(WriterLeaseContract, ExtendLeavesALeadersLeaseAsItIs) {
  lead();
  clock_.advance(seconds(1));
  submit("a", {});
  EXPECT_TRUE(lease_.extend("a"));
  EXPECT_EQ(lease_.state(), WriterState::leading);
  EXPECT_EQ(left(), seconds(59));
  EXPECT_EQ(poll(), Ran{});
}

TEST_F(WriterLeaseContract, RemoveDropsWorkAndLeavesTheLease) {
  follow();
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  EXPECT_TRUE(lease_.remove("a"));
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(lease_.status().tick, 0U);
  EXPECT_FALSE(lease_.remove("a"));
}

TEST_F(WriterLeaseContract, ReplacedWorkIsFreedAtOnce) {
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  submit("a", {});
  EXPECT_EQ(memory.use_count(), 1);
}

TEST_F(WriterLeaseContract, DoneWorkIsFreedBeforeTheNextRuns) {
  auto memory = std::make_shared<int>(1);
  ASSERT_TRUE(lease_.try_work("a", [memory] { return WorkResult{}; }));
  ASSERT_TRUE(lease_.try_work("b", [this, weak = std::weak_ptr(memory)] {
    ran_.push_back(weak.expired() ? "freed" : "held");
    return WorkResult{};
  }));
  memory.reset();
  EXPECT_EQ(poll(), Ran{"freed"});
}

// RT-05: work is never lost while it backs off; it goes only when it was seen done elsewhere.
TEST_F(WriterLeaseContract, RT05_ConflictingWorkIsKeptUntilItIsSeenDoneElsewhere) {
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
TEST_F(WriterLeaseContract, RT05_WorkWithNothingToDoExtendsNoLease) {
  lead();
  clock_.advance(seconds(10));
  submit("a", {WorkEffect::none});
  poll();
  EXPECT_EQ(left(), seconds(50));
}

TEST_F(WriterLeaseContract, WorkThatThrowsCountsAsReleaseAndRetryAndIsReported) {
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

TEST_F(WriterLeaseContract, LimitedRetriesEndEvenWhenTheWorkThrows) {
  ASSERT_TRUE(lease_.try_work(
      "bad", limit_retries(2, []() -> WorkResult { throw std::runtime_error("broken"); })));
  for (int i = 0; i < 10; ++i) {
    poll();
    clock_.advance(seconds(61));
  }
  EXPECT_EQ(thrown_.size(), 3U);
  EXPECT_EQ(lease_.size(), 0U);
}

TEST_F(WriterLeaseContract, StateChangesAreToldInOrder) {
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

TEST_F(WriterLeaseContract, AnObserverThatThrowsIsReportedAndTheRestGoesOn) {
  lease_.on_state_change([](WriterState) { throw std::runtime_error("observer"); });
  lead();
  EXPECT_EQ(thrown_, std::vector<std::string>{": observer"});
  EXPECT_EQ(lease_.state(), WriterState::leading);
}

TEST_F(WriterLeaseContract, TheDescriptorIsReadableWhenWorkIsDueAndTheClockFiresIt) {
  ASSERT_GE(lease_.fd(), 0);
  follow();
  clock_.advance(seconds(1));
  submit("a", {});
  EXPECT_EQ(lease_.next_due(), clock_.now() + milliseconds(40));
  EXPECT_EQ(clock_.next_timer(), clock_.now() + milliseconds(40));
  clock_.advance(milliseconds(40));
  EXPECT_EQ(poll(), Ran{"a"});
}

TEST_F(WriterLeaseContract, WaitRunsTheWorkItWaitsFor) {
  submit("a", {WorkEffect::none});
  submit("b", {WorkEffect::extend});
  EXPECT_EQ(lease_.wait(), Result<bool>(true));
}

TEST_F(WriterLeaseContract, WaitFromInsideWorkIsRefused) {
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

TEST_F(WriterLeaseContract, StopDropsWhatWaitsAndRefusesWhatComes) {
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

TEST_F(WriterLeaseContract, StopFromInsideWorkReturnsAndThePieceIsTheLast) {
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

TEST_F(WriterLeaseContract, ManyKeysAreServedInTheOrderInWhichTheyCame) {
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

TEST_F(WriterLeaseContract, EmptyWorkAndHugeKeysAreRefused) {
  EXPECT_EQ(lease_.try_work("a", Work()).error().code, Errc::invalid_argument);
  EXPECT_EQ(lease_.try_work(std::string(65537, 'k'), [] { return WorkResult{}; }).error().code,
            Errc::invalid_argument);
  EXPECT_TRUE(lease_.try_work(std::string(65536, 'k'), [] { return WorkResult{}; }));
  EXPECT_TRUE(lease_.try_work("", [] { return WorkResult{}; }));
}

TEST_F(WriterLeaseContract, AHandleCanBeMovedAndAssigned) {
  submit("a", {});
  WriterLease other = std::move(lease_);
  EXPECT_EQ(other.size(), 1U);
  other = make();
  EXPECT_EQ(other.size(), 0U);
  lease_ = std::move(other);
  EXPECT_EQ(lease_.size(), 0U);
}

}  // namespace
}  // namespace tenure
