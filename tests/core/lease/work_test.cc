// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/work.h>

#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <utility>

namespace tenure {
namespace {

WorkResult plain() { return {WorkEffect::extend}; }

TEST(UniqueFunction, OwnsWhatCannotBeCopiedAndDestroysItOnce) {
  auto owned = std::make_shared<int>(7);
  const std::weak_ptr<int> seen = owned;
  UniqueFunction<int()> function = [p = std::make_unique<std::shared_ptr<int>>(std::move(owned))] {
    return **p;
  };
  UniqueFunction<int()> moved = std::move(function);
  EXPECT_FALSE(function);  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(moved(), 7);
  EXPECT_TRUE(moved.owns());
  moved.reset();
  EXPECT_TRUE(seen.expired());
  EXPECT_FALSE(moved);
}

TEST(UniqueFunction, HoldsLargeCapturesAndOnesOfNonTrivialMove) {
  const std::array<int, 100> numbers{1, 2, 3};
  UniqueFunction<int()> large = [numbers] { return numbers[2]; };
  const std::shared_ptr<int> shared = std::make_shared<int>(5);
  UniqueFunction<int()> inside = [shared] { return *shared; };
  std::swap(large, inside);
  EXPECT_EQ(large(), 5);
  EXPECT_EQ(inside(), 3);
  EXPECT_EQ(shared.use_count(), 2);
  large = nullptr;
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(UniqueFunction, NullPointersAndEmptyFunctionsGiveAnEmptyOne) {
  WorkResult (*none)() = nullptr;
  EXPECT_FALSE(Work(none));
  EXPECT_FALSE(Work(std::function<WorkResult()>()));
  EXPECT_TRUE(Work(plain));
  EXPECT_EQ(Work(&plain)(), WorkResult{WorkEffect::extend});
  EXPECT_FALSE(Work(nullptr));
}

TEST(UniqueFunction, PlainCapturesNeedNoDestruction) {
  int x = 0;
  EXPECT_FALSE((UniqueFunction<void()>([&x] { ++x; }).owns()));
  EXPECT_EQ(sizeof(Work), 32U);
}

TEST(UniqueFunction, ThrowsAwayWhatACallableReturnsWhereNothingIsWanted) {
  int calls = 0;
  UniqueFunction<void()> inside = [&calls] { return ++calls; };
  const std::array<int, 100> large{};
  UniqueFunction<void(int)> outside = [&calls, large](int by) { return calls += by + large[0]; };
  inside();
  outside(5);
  EXPECT_EQ(calls, 6);
}

TEST(LimitRetries, OfEmptyWorkMakesEmptyWork) { EXPECT_FALSE(limit_retries(3, Work())); }

TEST(LimitRetries, ZeroRunsOnceAndTheEffectCounts) {
  Work work = limit_retries(0, [] { return WorkResult{WorkEffect::release, true}; });
  EXPECT_EQ(work(), (WorkResult{WorkEffect::release, false}));
}

TEST(LimitRetries, RetriesAreGrantedUpToTheLimit) {
  int runs = 0;
  Work work = limit_retries(2, [&runs] {
    ++runs;
    return WorkResult{WorkEffect::none, true};
  });
  EXPECT_TRUE(work().retry);
  EXPECT_TRUE(work().retry);
  EXPECT_FALSE(work().retry);
  EXPECT_EQ(runs, 3);
}

TEST(LimitRetries, WorkThatIsDoneIsDone) {
  Work work = limit_retries(9, plain);
  EXPECT_EQ(work(), WorkResult{WorkEffect::extend});
}

TEST(LimitRetries, WorkThatThrowsUsesUpItsRetriesTooAndIsNotCalledAgain) {
  int runs = 0;
  Work work = limit_retries(1, [&runs]() -> WorkResult {
    ++runs;
    throw std::runtime_error("no");
  });
  EXPECT_THROW(work(), std::runtime_error);
  EXPECT_THROW(work(), std::runtime_error);
  EXPECT_EQ(work(), WorkResult{});
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace tenure
