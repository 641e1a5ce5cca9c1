// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/script.h"
#include "tests/support/temp_dir.h"

#include <tenure/clock.h>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>

namespace tenure::test {
namespace {

// Time passes at each look at it: no two things happen at the same instant.
class BusyClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override {
    return Instant(std::chrono::hours(1)) + std::chrono::milliseconds(++looks_);
  }
  [[nodiscard]] WallTime wall_now() const noexcept override {
    return testkit::ManualClock::kDefaultWall + std::chrono::milliseconds(looks_);
  }
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override { return still_.make_timer(); }

 private:
  mutable std::atomic<int> looks_{0};
  testkit::ManualClock still_;
};

class SqliteLedger : public testing::Test {
 protected:
  TempDir folder_;
  SqliteOptions options_{.path = folder_ / "t.db"};
};

TEST_F(SqliteLedger, ARowOfAnotherBootIsExpiredHoweverMuchOfItsTtlIsLeft) {
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  Asker before(executor);
  ASSERT_TRUE(before.open(options_, machine("one")));
  const auto first = before.acquire("a");
  ASSERT_TRUE(first && first->ours);

  // Its lock is still alive here, as another file may be at the same place after a reboot.
  Asker after(executor);
  ASSERT_TRUE(after.open(options_, machine("two")));
  const auto second = after.acquire("b");
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->ours);
  EXPECT_GT(second->record->token, first->record->token);
  before.destroy();
  after.destroy();
}

TEST_F(SqliteLedger, NoAnswerPromisesMoreThanTheRowHolds) {
  BusyClock clock;
  testkit::ManualExecutor executor(clock);
  Asker asker(executor);
  ASSERT_TRUE(asker.open(options_));
  const auto row_ends = [&asker] {
    const auto states = asker.list();
    return states && states->size() == 1 && states->front().holder
               ? states->front().holder->expires_at
               : kLongAgo;
  };
  const auto held = asker.acquire("a");
  ASSERT_TRUE(held && held->ours);
  EXPECT_LE(held->sent_at + held->record->ttl, row_ends());
  const auto renewed = asker.renew(*held->record);
  ASSERT_TRUE(renewed && renewed->held);
  EXPECT_LE(renewed->sent_at + renewed->ttl, row_ends());
  const auto again = asker.acquire("a");
  ASSERT_TRUE(again && again->ours);
  EXPECT_LE(again->sent_at + again->record->ttl, row_ends());
  asker.destroy();
}

}  // namespace
}  // namespace tenure::test
