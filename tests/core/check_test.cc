// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

namespace tenure::core {
namespace {

int evaluated = 0;

void print_and_exit(const char* what) noexcept {
  std::fprintf(stderr, "handled: %s\n", what);
  std::_Exit(7);
}

void print_and_return(const char* what) noexcept { std::fprintf(stderr, "seen: %s\n", what); }

TEST(Check, ConditionThatHoldsIsEvaluatedOnceAndNothingElseHappens) {
  evaluated = 0;
  TENURE_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, FailureReachesTheHandlerWithPlaceAndCondition) {
  EXPECT_EXIT(
      {
        set_check_handler(print_and_exit);
        TENURE_CHECK(evaluated == 42);
      },
      testing::ExitedWithCode(7), "handled: check_test.cc:[0-9]+: evaluated == 42");
}

TEST(CheckDeathTest, ProcessAbortsWhenTheHandlerReturns) {
  EXPECT_EXIT(
      {
        set_check_handler(print_and_return);
        TENURE_CHECK(evaluated == 42);
      },
      testing::KilledBySignal(SIGABRT), "seen: ");
}

TEST(CheckDeathTest, ProcessAbortsWithoutAHandler) {
  EXPECT_EXIT(TENURE_CHECK(evaluated == 42), testing::KilledBySignal(SIGABRT), "");
}

TEST(Check, ReplacingTheHandlerGivesTheFormerOne) {
  EXPECT_EQ(set_check_handler(print_and_return), nullptr);
  EXPECT_EQ(set_check_handler(nullptr), &print_and_return);
}

}  // namespace
}  // namespace tenure::core
