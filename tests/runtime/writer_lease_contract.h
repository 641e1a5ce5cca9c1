// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/manual_clock.h>
#include <tenure/writer_lease.h>

#include <exception>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure::test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A writer lease without threads, on a clock that the test owns.
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

}  // namespace tenure::test
