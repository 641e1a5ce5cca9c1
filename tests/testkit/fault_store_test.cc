// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/memory_store.h>
#include <tenure/testkit/fault_store.h>
#include <tenure/testkit/manual_executor.h>

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenure::testkit {
namespace {

using namespace std::chrono_literals;

class FaultStoreTest : public testing::Test {
 protected:
  using Answer = std::shared_ptr<std::vector<Result<AcquireReply>>>;

  [[nodiscard]] Answer acquire(const std::string& session, Duration limit = 5s) {
    auto answers = std::make_shared<std::vector<Result<AcquireReply>>>();
    store_.acquire({"e", "id", session, 15s, clock_.now() + limit, {}},
                   [answers](Result<AcquireReply> reply) { answers->push_back(std::move(reply)); });
    EXPECT_TRUE(answers->empty()) << "never inline";
    executor_.run_until_idle();
    return answers;
  }

  [[nodiscard]] std::unique_ptr<Watch> watch() {
    return store_.watch({"e", {}}, [this](const Result<ElectionState>& state) {
      if (!state) {
        seen_.push_back("error: " + state.error().message);
      } else {
        seen_.push_back(state->holder ? state->holder->session : "nobody");
      }
    });
  }

  [[nodiscard]] std::string holder() const {
    const auto states = backend_->elections();
    return states.empty() || !states[0].holder ? "" : states[0].holder->session;
  }

  ManualClock clock_;
  ManualExecutor executor_{clock_};
  std::shared_ptr<MemoryBackend> backend_ = MemoryBackend::make(clock_);
  FaultStore store_{make_memory_store(backend_, executor_), executor_};
  std::vector<std::string> seen_;
};

TEST_F(FaultStoreTest, FailsTheNextRequestsBeforeTheyReachTheStoreAndThenNoMore) {
  store_.next(Verb::acquire, fail_with({Errc::unavailable, "down"}), 2);
  store_.next(Verb::acquire, fail_with({Errc::permission_denied, "no"}));
  EXPECT_EQ(acquire("s1")->at(0).error().code, Errc::unavailable);
  EXPECT_EQ(acquire("s1")->at(0).error().code, Errc::unavailable);
  EXPECT_EQ(acquire("s1")->at(0).error().code, Errc::permission_denied);
  EXPECT_EQ(holder(), "");
  EXPECT_TRUE(acquire("s1")->at(0)->ours);
  EXPECT_EQ(store_.requests(Verb::acquire), 4U);
  EXPECT_EQ(store_.requests(Verb::renew), 0U);
}

TEST_F(FaultStoreTest, LosesAnAnswerAfterTheRequestTookEffect) {
  store_.next(Verb::acquire, lose_answer());
  EXPECT_EQ(acquire("s1")->at(0).error().code, Errc::outcome_unknown);
  EXPECT_EQ(holder(), "s1");
}

TEST_F(FaultStoreTest, HoldsAnswersUntilTheyAreDelivered) {
  store_.next(Verb::acquire, fault(Fault::Kind::hold_answer));
  const auto answer = acquire("s1");
  EXPECT_EQ(holder(), "s1");
  executor_.advance(1h);
  EXPECT_TRUE(answer->empty());
  EXPECT_EQ(store_.held_answers(), 1U);
  store_.deliver_answers();
  EXPECT_TRUE(answer->empty()) << "never inline";
  executor_.run_until_idle();
  ASSERT_EQ(answer->size(), 1U);
  EXPECT_TRUE(answer->at(0)->ours);
}

TEST_F(FaultStoreTest, HoldsRequestsUntilTheyAreDelivered) {
  store_.always(Verb::acquire, fault(Fault::Kind::hold_request));
  const auto answer = acquire("s1");
  EXPECT_EQ(holder(), "");
  EXPECT_EQ(store_.held_requests(), 1U);
  store_.deliver_requests();
  executor_.run_until_idle();
  EXPECT_EQ(holder(), "s1");
  executor_.advance(10s);
  ASSERT_EQ(answer->size(), 1U) << "once, though its limit has passed since";
  EXPECT_TRUE(answer->at(0)->ours);
}

TEST_F(FaultStoreTest, GivesAHeldRequestUpAtItsLimitAndItNeverTakesEffect) {
  store_.next(Verb::acquire, fault(Fault::Kind::hold_request));
  const auto answer = acquire("s1");
  executor_.advance(5s - 1ns);
  EXPECT_TRUE(answer->empty());
  executor_.advance(1ns);
  ASSERT_EQ(answer->size(), 1U);
  EXPECT_EQ(answer->at(0).error().code, Errc::unavailable);
  store_.deliver_requests();
  executor_.run_until_idle();
  EXPECT_EQ(holder(), "");
  EXPECT_EQ(answer->size(), 1U);
}

TEST_F(FaultStoreTest, SwallowsAnAnswerUntilTheLimitThoughItTookEffect) {
  store_.next(Verb::acquire, fault(Fault::Kind::swallow_answer));
  const auto answer = acquire("s1");
  EXPECT_EQ(holder(), "s1");
  EXPECT_TRUE(answer->empty());
  executor_.advance(5s);
  ASSERT_EQ(answer->size(), 1U);
  EXPECT_EQ(answer->at(0).error().code, Errc::outcome_unknown);
}

TEST_F(FaultStoreTest, SB02_ABlackHoleNeverAnswersAtAll) {
  store_.always(fault(Fault::Kind::black_hole));
  const auto answer = acquire("s1");
  executor_.advance(24h);
  store_.close([] {});
  executor_.run_until_idle();
  EXPECT_TRUE(answer->empty());
  EXPECT_EQ(holder(), "");
}

TEST_F(FaultStoreTest, ClearForgetsWhatWasScripted) {
  store_.always(fail_with({Errc::unavailable, "down"}));
  store_.next(Verb::acquire, fail_with({Errc::conflict, "first"}));
  EXPECT_EQ(acquire("s1")->at(0).error().code, Errc::conflict);
  EXPECT_EQ(acquire("s1")->at(0).error().code, Errc::unavailable);
  store_.next(Verb::acquire, fail_with({Errc::conflict, "second"}));
  store_.clear(Verb::acquire);
  EXPECT_TRUE(acquire("s1")->at(0)->ours);
  std::optional<Errc> listed;
  const auto list = [&] {
    store_.list({}, [&](const Result<std::vector<ElectionState>>& reply) {
      listed = reply ? std::nullopt : std::optional(reply.error().code);
    });
    executor_.run_until_idle();
  };
  list();
  EXPECT_EQ(listed, Errc::unavailable) << "the other verbs still fail";
  store_.clear();
  list();
  EXPECT_EQ(listed, std::nullopt);
}

TEST_F(FaultStoreTest, CutsWatchesWithAnErrorAndNothingAfterIt) {
  const auto watching = watch();
  executor_.run_until_idle();
  store_.cut_watches({Errc::unavailable, "cut"});
  (void)acquire("s1");
  EXPECT_EQ(seen_, (std::vector<std::string>{"nobody", "error: cut"}));
}

TEST_F(FaultStoreTest, HoldsWatchUpdatesAndGivesThemInOrder) {
  const auto watching = watch();
  executor_.run_until_idle();
  store_.hold_watches(true);
  (void)acquire("s1");
  backend_->force_delete("e");
  executor_.run_until_idle();
  (void)acquire("s2");
  EXPECT_EQ(seen_, std::vector<std::string>{"nobody"});
  backend_->force_delete("e");
  store_.hold_watches(false);
  executor_.run_until_idle();
  EXPECT_EQ(seen_, (std::vector<std::string>{"nobody", "s1", "nobody", "s2", "nobody"}));
}

TEST_F(FaultStoreTest, AWatchThatIsRefusedSaysSoAndOneInABlackHoleIsSilent) {
  store_.next(Verb::watch, fail_with({Errc::permission_denied, "no"}));
  store_.next(Verb::watch, fault(Fault::Kind::black_hole));
  const auto refused = watch();
  const auto silent = watch();
  executor_.run_until_idle();
  (void)acquire("s1");
  EXPECT_EQ(seen_, std::vector<std::string>{"error: no"});
  store_.close([] {});
  executor_.run_until_idle();
  EXPECT_EQ(seen_.back(), "error: the store is closed") << "no watch ends silently";
}

TEST_F(FaultStoreTest, CloseAnswersWhatIsHeld) {
  store_.next(Verb::acquire, fault(Fault::Kind::hold_request));
  store_.next(Verb::acquire, fault(Fault::Kind::hold_answer));
  const auto request = acquire("s1");
  const auto answer = acquire("s2");
  bool done = false;
  store_.close([&] {
    done = true;
    EXPECT_EQ(request->size() + answer->size(), 2U) << "before it is done";
  });
  executor_.run_until_idle();
  EXPECT_TRUE(done);
  EXPECT_EQ(request->at(0).error().code, Errc::closed);
  EXPECT_EQ(answer->at(0).error().code, Errc::closed);
}

}  // namespace
}  // namespace tenure::testkit
