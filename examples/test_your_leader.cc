// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0

/// How to test code of your own that leads. No thread, no sleep, no server: a clock that the test
/// moves, a store in memory, and a FaultStore that takes the network away. Half a minute of
/// elections takes about a millisecond, so it is run with a thousand seeds.
#include <tenure/election.h>
#include <tenure/memory_store.h>
#include <tenure/runtime.h>
#include <tenure/testkit/drive.h>
#include <tenure/testkit/fault_store.h>
#include <tenure/testkit/manual_clock.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tenure::testkit::FaultStore;
using tenure::testkit::ManualClock;

// The code under test: it may work while it leads, and must stop when it is told to.
class Billing {
 public:
  void begin(tenure::Leadership leadership, tenure::TermEnd end) {
    leadership_ = std::move(leadership);
    end_ = std::move(end);
    tokens_.push_back(leadership_.token());
    // Nothing to finish first: the work of this term has ended as soon as it is asked to.
    asked_to_stop_.emplace(leadership_.stop_token(), [this] { end_.done(); });
  }

  // Called by the application's own loop, say once a second.
  void tick() {
    if (leadership_.held()) ++invoices_;
  }

  [[nodiscard]] const std::vector<std::uint64_t>& tokens() const { return tokens_; }
  [[nodiscard]] int invoices() const { return invoices_; }

 private:
  tenure::Leadership leadership_;
  tenure::TermEnd end_;
  std::vector<std::uint64_t> tokens_;
  int invoices_ = 0;
  std::optional<std::stop_callback<std::function<void()>>> asked_to_stop_;
};

class BillingTest {
 public:
  explicit BillingTest(std::uint64_t seed)
      : runtime_(std::move(*tenure::Runtime::create(
            {.threads = tenure::Threads::caller, .clock = &clock_, .seed = seed}))),
        backend_(tenure::MemoryBackend::make(clock_)),
        store_(std::make_shared<FaultStore>(tenure::make_memory_store(backend_, *runtime_),
                                            *runtime_)),
        election_(std::move(*tenure::Election::create(*runtime_, store_, {.name = "billing"}))) {
    auto set = election_.on_term([this](tenure::Leadership leadership, tenure::TermEnd end) {
      billing_.begin(std::move(leadership), std::move(end));
    });
    EXPECT_TRUE(set) << set.error().message;
  }

  void run() {
    ASSERT_TRUE(election_.start().has_value());
    pass(1s);
    ASSERT_TRUE(election_.held());
    EXPECT_GT(billing_.invoices(), 0);

    // The network goes. Within the ttl we must have stopped, and stay stopped.
    store_->always(tenure::testkit::fail_with({tenure::Errc::unavailable, "no route to host"}));
    pass(15s);
    EXPECT_FALSE(election_.held());
    const int stopped_at = billing_.invoices();
    pass(15s);
    EXPECT_EQ(billing_.invoices(), stopped_at) << "worked without leading";

    // It comes back: a new term, with a larger token.
    store_->clear();
    pass(15s);
    ASSERT_TRUE(election_.held());
    EXPECT_GT(billing_.invoices(), stopped_at);
    ASSERT_EQ(billing_.tokens().size(), 2U);
    EXPECT_GT(billing_.tokens()[1], billing_.tokens()[0]);

    // An operator deletes the record: that term is over, and another begins.
    ASSERT_TRUE(backend_->force_delete("billing"));
    pass(15s);
    EXPECT_TRUE(election_.held());
    EXPECT_EQ(billing_.tokens().size(), 3U);
    EXPECT_TRUE(election_.stop(1s).has_value());
    EXPECT_FALSE(election_.held());
  }

 private:
  void pass(tenure::Duration time) {
    for (tenure::Duration gone{}; gone < time; gone += 500ms) {
      EXPECT_TRUE(tenure::testkit::pass(*runtime_, clock_, 500ms));
      billing_.tick();
    }
  }

  // The clock outlives all that runs on it, and the code under test what calls it.
  ManualClock clock_;
  Billing billing_;
  std::unique_ptr<tenure::Runtime> runtime_;
  std::shared_ptr<tenure::MemoryBackend> backend_;
  std::shared_ptr<FaultStore> store_;
  tenure::Election election_;
};

TEST(Billing, US02_WorksOnlyWhileItLeadsWhateverTheSeed) {
  constexpr std::uint64_t kSeeds = 1000;
  std::vector<tenure::Duration> took;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const tenure::Instant begin = tenure::system_clock().now();
    BillingTest(seed).run();
    took.push_back(tenure::system_clock().now() - begin);
    if (testing::Test::HasFailure()) return;
  }
  // The middle one, so that a machine which is busy with something else does not fail it.
  std::nth_element(took.begin(), took.begin() + kSeeds / 2, took.end());
  EXPECT_LT(took[kSeeds / 2], 10ms) << "a test of this kind is meant to be run all the time";
}

}  // namespace
