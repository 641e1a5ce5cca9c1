// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/contention_guard.h>
#include <tenure/testkit/manual_clock.h>

#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure::test {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// A contention guard on a clock that the test owns.
class ContentionGuardTest : public testing::Test {
 protected:
  ContentionGuard make() {
    auto guard = ContentionGuard::create(
        {.same = [](std::string_view a, std::string_view b) { return meaning(a) == meaning(b); },
         .on_contended =
             [this](std::string_view key) {
               const std::lock_guard lock(mutex_);
               reported_.emplace_back(key);
             },
         .clock = &clock_});
    EXPECT_TRUE(guard.has_value());
    return std::move(*guard);
  }
  // What matters comes before the '@'; behind it is a timestamp.
  static std::string_view meaning(std::string_view value) {
    return value.substr(0, value.find('@'));
  }
  void fight(const std::string& key) {
    for (int i = 0; i < 5; ++i) {
      guard_.wrote(key, "ours");
      guard_.observed(key, "ours");
      guard_.observed(key, "theirs");
    }
  }

  testkit::ManualClock clock_;
  std::mutex mutex_;
  std::vector<std::string> reported_;
  ContentionGuard guard_ = make();
};

}  // namespace tenure::test
