// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/database.h"
#include "tests/support/temp_dir.h"

#include <tenure/clock.h>
#include <tenure/sqlite_store.h>
#include <tenure/testkit/store_conformance.h>

#include <chrono>
#include <memory>
#include <string>

namespace tenure::testkit {
namespace {

// What both worlds have: a database file, and a hand in it.
template <class World>
class SqliteWorld : public World {
 public:
  using World::World;

  [[nodiscard]] std::shared_ptr<LeaseStore> open() override {
    auto store = open_sqlite_store({.path = database()}, this->executor());
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return std::move(*store);
  }

  bool force_delete(const std::string& election) override {
    test::Database(database()).run("DELETE FROM election WHERE name = '" + election + "'");
    return true;
  }

  bool force_takeover(const std::string& election) override {
    test::Database(database())
        .run(
            "BEGIN IMMEDIATE; UPDATE meta SET last_revision = last_revision + 1;"
            "UPDATE election SET session = 'usurper', id = 'usurper', lock_offset = 0, expires = "
            "expires + 60000000000,"
            " token = (SELECT last_revision FROM meta), change = (SELECT last_revision FROM meta)"
            " WHERE name = '" +
            election + "'; COMMIT");
    return true;
  }

  [[nodiscard]] std::string database() const { return folder_ / "t.db"; }

 private:
  test::TempDir folder_;
};

// Nobody rings the bell for what is done by hand, and the slow look that finds it is a matter of
// this clock; so it has to move for it.
class ManualSqliteWorld final : public SqliteWorld<ManualWorld> {
 public:
  [[nodiscard]] bool pump(const std::function<bool()>& condition, Duration real_limit) override {
    if (SqliteWorld::pump(condition, meddled_ ? Duration::zero() : real_limit)) return true;
    if (!meddled_) return false;
    meddled_ = false;
    pass(std::chrono::milliseconds(1300));
    return SqliteWorld::pump(condition, real_limit);
  }

  bool force_delete(const std::string& election) override {
    meddled_ = true;
    return SqliteWorld::force_delete(election);
  }

  bool force_takeover(const std::string& election) override {
    meddled_ = true;
    return SqliteWorld::force_takeover(election);
  }

  bool set_stalled(bool stalled) override {
    executor_.hold_blocking(stalled);
    return true;
  }

 private:
  bool meddled_ = false;
};

class RealSqliteWorld final : public SqliteWorld<RealTimeWorld> {
 public:
  RealSqliteWorld() : SqliteWorld(system_clock()) {}

  // Long enough for a machine that is busy with other things.
  [[nodiscard]] Duration ttl() const override { return std::chrono::milliseconds(1500); }
  [[nodiscard]] Duration slack() const override { return std::chrono::milliseconds(500); }
  [[nodiscard]] Duration tick() const override { return std::chrono::milliseconds(600); }

  // As a process does that is stopped in the middle of a write.
  bool set_stalled(bool stalled) override {
    if (!stalled) {
      writer_.reset();
    } else {
      writer_ = std::make_unique<test::Database>(database());
      writer_->run("BEGIN IMMEDIATE");
    }
    return true;
  }

 private:
  std::unique_ptr<test::Database> writer_;
};

INSTANTIATE_TEST_SUITE_P(
    Sqlite, StoreConformance,
    testing::Values(
        StoreUnderTest{"manual_clock", [] { return std::make_unique<ManualSqliteWorld>(); }},
        StoreUnderTest{"system_clock", [] { return std::make_unique<RealSqliteWorld>(); }}),
    store_name);

}  // namespace
}  // namespace tenure::testkit
