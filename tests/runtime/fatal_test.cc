// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/fatal.h"

#include "core/check.h"
#include "runtime/run_task.h"

#include <tenure/election.h>
#include <tenure/testkit/manual_clock.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>

namespace tenure {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

const testkit::ManualClock& clock() {
  static const testkit::ManualClock clock;
  return clock;
}

const Leadership& term() {
  static const Leadership term = [] {
    auto shared = std::make_shared<detail::Term>(clock(), 1);
    shared->deadline_ns.store((clock().now() + std::chrono::hours(1)).time_since_epoch().count());
    return Leadership(std::move(shared));
  }();
  return term;
}

void say_whether_held(const char* what) noexcept {
  std::fprintf(stderr, "hook: %s, held: %d", what, term().held() ? 1 : 0);
  std::_Exit(5);
}

void fail_again(const char*) noexcept { TENURE_CHECK(term().token() == 99); }

void just_return(const char*) noexcept {}

TEST(FatalDeathTest, FailedCheckOfTheCoreMarksEveryTermLostBeforeTheHookIsCalled) {
  EXPECT_EXIT(
      {
        if (!term().held()) std::_Exit(1);
        set_fatal_hook(say_whether_held);
        TENURE_CHECK(term().token() == 2);
      },
      ExitedWithCode(5), "hook: fatal_test.cc:[0-9]+: term\\(\\).token\\(\\) == 2, held: 0");
}

TEST(FatalDeathTest, DefaultHookPrintsTheReasonAndAborts) {
  EXPECT_EXIT(runtime::fatal("the work did not end"), KilledBySignal(SIGABRT),
              "tenure: fatal: the work did not end\n");
}

TEST(FatalDeathTest, ProcessAbortsWhenTheHookReturns) {
  EXPECT_EXIT(
      {
        set_fatal_hook(just_return);
        runtime::fatal("x");
      },
      KilledBySignal(SIGABRT), "");
}

TEST(FatalDeathTest, HookThatFailsACheckItselfEndsInAnAbortAndNotInALoop) {
  EXPECT_EXIT(
      {
        (void)term();
        set_fatal_hook(fail_again);
        runtime::fatal("x");
      },
      KilledBySignal(SIGABRT), "");
}

TEST(FatalDeathTest, ExceptionThatLeavesATaskOfTheLibraryIsFatalAndNamed) {
  EXPECT_EXIT(runtime::run_task([] { throw std::runtime_error("no disk"); }),
              KilledBySignal(SIGABRT), "tenure: fatal: an exception left a task: no disk");
  EXPECT_EXIT(runtime::run_task([] { throw 1; }), KilledBySignal(SIGABRT),
              "tenure: fatal: an exception left a task");
}

TEST(Fatal, SettingAHookGivesTheFormerOneAndNullMeansTheDefault) {
  const FatalHook original = set_fatal_hook(just_return);
  ASSERT_NE(original, nullptr);
  EXPECT_EQ(set_fatal_hook(nullptr), &just_return);
  EXPECT_EQ(set_fatal_hook(original), original);
}

}  // namespace
}  // namespace tenure
