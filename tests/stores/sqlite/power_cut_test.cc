// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/database.h"
#include "tests/stores/sqlite/faulty_vfs.h"
#include "tests/stores/sqlite/script.h"
#include "tests/support/temp_dir.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace tenure::test {
namespace {

// A machine that loses its power again and again, with several elections on one database.
class PowerCut : public testing::Test {
 protected:
  // One life of the machine: opens the store, does `steps` random things, and loses its power.
  void live(int life, std::mt19937_64& random, int steps) {
    Asker asker(executor_);
    ASSERT_TRUE(
        asker.open({.path = path_, .vfs = vfs_.name()}, machine("boot " + std::to_string(life))))
        << asker.error().message;
    std::vector<Record> held;
    for (int step = 0; step < steps; ++step) {
      const std::string election(1, static_cast<char>('a' + random() % 3));
      const std::uint64_t what = random() % 10;
      if (what < 4 || held.empty()) {
        const std::string session = std::to_string(life) + "." + std::to_string(step);
        const auto reply = asker.acquire(session, election);
        ASSERT_TRUE(reply.has_value()) << reply.error().message;
        if (!reply->ours) continue;
        check_token(reply->record->token);
        held.push_back(*reply->record);
      } else if (what < 8) {
        ASSERT_TRUE(asker.renew(held[random() % held.size()]).has_value());
      } else {
        std::swap(held[random() % held.size()], held.back());
        ASSERT_TRUE(asker.release(held.back()).has_value());
        held.pop_back();
      }
    }
    // The cut comes before the store's end, whose clean close must not be what saves us.
    vfs_.fail_at(1, SQLITE_IOERR_WRITE, true);
    asker.destroy();
    vfs_.fail_at(0, SQLITE_OK, false);
    vfs_.cut_power(random());
  }

  void check_token(std::uint64_t token) {
    if (token <= last_token_) ++repeated_;
    last_token_ = std::max(last_token_, token);
  }

  // The file made anew with all that must be durable in it.
  void create() {
    Asker asker(executor_);
    ASSERT_TRUE(asker.open({.path = path_})) << asker.error().message;
    asker.destroy();
  }

  TempDir folder_;
  std::string path_ = folder_ / "t.db";
  FaultyVfs vfs_;
  testkit::ManualClock clock_;
  testkit::ManualExecutor executor_{clock_};
  std::uint64_t last_token_ = 0;
  int repeated_ = 0;
};

TEST_F(PowerCut, NeverHandsOutATokenTwice) {
  constexpr std::uint64_t kSeed = 20261130;
  std::mt19937_64 random(kSeed);
  create();
  for (int life = 0; life < 600; ++life) {
    SCOPED_TRACE("life " + std::to_string(life) + " of seed " + std::to_string(kSeed));
    ASSERT_NO_FATAL_FAILURE(live(life, random, 1 + static_cast<int>(random() % 12)));
    ASSERT_EQ(repeated_, 0) << "token " << last_token_;
  }
  EXPECT_GT(last_token_, 1000U);
  EXPECT_EQ(Database(path_).run("PRAGMA integrity_check"), "ok");
}

TEST_F(PowerCut, ALongLifeWithCheckpointsLosesNoToken) {
  std::mt19937_64 random(7);
  create();
  for (int life = 0; life < 20; ++life) {
    ASSERT_NO_FATAL_FAILURE(live(life, random, 400));
    ASSERT_EQ(repeated_, 0) << "token " << last_token_;
  }
  EXPECT_EQ(Database(path_).run("PRAGMA integrity_check"), "ok");
}

// The tests above would be worth nothing if the machine lost nothing.
TEST_F(PowerCut, LosesWhatWasNotSynced) {
  create();
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open_v2(path_.c_str(), &handle, SQLITE_OPEN_READWRITE, vfs_.name().c_str()),
              SQLITE_OK);
    char* message = nullptr;
    ASSERT_EQ(sqlite3_exec(handle,
                           "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0;"
                           "UPDATE meta SET last_revision = last_revision + 1;"
                           "UPDATE meta SET last_revision = last_revision + 1;",
                           nullptr, nullptr, &message),
              SQLITE_OK)
        << message;
    const std::string before = Database(path_).run("SELECT last_revision FROM meta");
    vfs_.fail_at(1, SQLITE_IOERR_WRITE, true);
    sqlite3_close(handle);
    vfs_.fail_at(0, SQLITE_OK, false);
    vfs_.cut_power(seed);
    if (Database(path_).run("SELECT last_revision FROM meta") != before) ++lost;
  }
  EXPECT_GT(lost, 5);
}

TEST_F(PowerCut, AfterARebootNobodyHoldsAndTheNextTokenIsLarger) {
  create();
  Asker asker(executor_);
  ASSERT_TRUE(asker.open({.path = path_, .vfs = vfs_.name()}, machine("one")));
  const auto first = asker.acquire("s1");
  ASSERT_TRUE(first && first->ours);
  vfs_.fail_at(1, SQLITE_IOERR_WRITE, true);
  asker.destroy();
  vfs_.fail_at(0, SQLITE_OK, false);
  vfs_.cut_power(1);
  ASSERT_TRUE(asker.open({.path = path_, .vfs = vfs_.name()}, machine("two")));
  const auto shown = asker.list();
  ASSERT_TRUE(shown && shown->size() == 1);
  EXPECT_EQ(shown->front().holder, std::nullopt);
  const auto second = asker.acquire("s2");
  ASSERT_TRUE(second && second->ours);
  EXPECT_GT(second->record->token, first->record->token);
}

}  // namespace
}  // namespace tenure::test
