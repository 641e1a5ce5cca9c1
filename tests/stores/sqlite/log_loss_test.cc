// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/database.h"
#include "tests/stores/sqlite/faulty_vfs.h"
#include "tests/stores/sqlite/helper.h"
#include "tests/stores/sqlite/script.h"
#include "tests/support/temp_dir.h"

#include <tenure/clock.h>

#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

// A database whose log, where the last commits are, is lost: deleted by hand, or damaged.
class LogLoss : public testing::Test {
 protected:
  // As a process does that is killed: nothing is brought from the log into the database.
  void die(Asker& asker) {
    vfs_.fail_at(1, SQLITE_IOERR_WRITE, true);
    asker.destroy();
    vfs_.fail_at(0, SQLITE_OK, false);
    ASSERT_GT(fs::file_size(path_ + "-wal"), 0U);
  }

  // Some terms, of which the database itself knows nothing; the last token.
  std::uint64_t lead(int terms, const std::string& boot) {
    Asker asker(executor_);
    EXPECT_TRUE(asker.open({.path = path_, .vfs = vfs_.name()}, machine(boot)));
    std::uint64_t token = 0;
    for (int i = 0; i < terms; ++i) {
      const auto held = asker.acquire("s" + std::to_string(i));
      EXPECT_TRUE(held && held->ours);
      EXPECT_GT(held->record->token, token);
      token = held->record->token;
      EXPECT_TRUE(asker.release(*held->record)->released);
    }
    die(asker);
    return token;
  }

  void lose_log() {
    for (const char* suffix : {"-wal", "-shm"}) EXPECT_TRUE(fs::remove(path_ + suffix)) << suffix;
  }

  std::uint64_t next_token(const std::string& boot) {
    Asker asker(executor_);
    EXPECT_TRUE(asker.open({.path = path_}, machine(boot))) << asker.error().message;
    const auto held = asker.acquire("next");
    EXPECT_TRUE(held && held->ours);
    const std::uint64_t token = held->record->token;
    EXPECT_TRUE(asker.release(*held->record)->released);
    asker.destroy();
    return token;
  }

  TempDir folder_;
  std::string path_ = folder_ / "t.db";
  FaultyVfs vfs_;
  testkit::ManualClock clock_;
  testkit::ManualExecutor executor_{clock_};
};

TEST_F(LogLoss, HandsNoTokenOutAgain) {
  const std::uint64_t first = lead(5, "one");
  lose_log();
  const std::uint64_t second = next_token("one");
  EXPECT_GT(second, first);
  EXPECT_LT(second, first + 10) << "the mark is exact as long as the system runs";
}

TEST_F(LogLoss, HandsNoTokenOutAgainAfterAPowerCut) {
  const std::string lock = path_ + "-lock";
  (void)lead(1, "one");
  const std::string on_disk = read_file(lock);
  const std::uint64_t last = lead(50, "one");
  ASSERT_NE(read_file(lock), on_disk);
  // Of the lock file, too, only what was synced is there.
  (void)folder_.write("t.db-lock", on_disk);
  lose_log();
  EXPECT_GT(next_token("two"), last);
}

TEST_F(LogLoss, HandsNoTokenOutAgainHoweverManyThereWere) {
  std::uint64_t last = 0;
  for (int life = 0; life < 8; ++life) last = lead(300, "one");
  ASSERT_GT(last, 4096U);
  lose_log();
  EXPECT_GT(next_token("one"), last);
}

TEST_F(LogLoss, TokensSkipNoneAsLongAsNothingIsLost) {
  std::uint64_t last = lead(1, "one");
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t next = next_token("one");
    EXPECT_EQ(next, last + 2) << "an acquire and a release";
    last = next;
  }
  const std::uint64_t after_reboot = next_token("two");
  EXPECT_GT(after_reboot, last);
  EXPECT_LE(after_reboot, last + 1024);
}

TEST_F(LogLoss, WithoutTheMarkTheDatabaseCounts) {
  const std::uint64_t last = lead(5, "one");
  ASSERT_TRUE(fs::remove(path_ + "-lock"));
  EXPECT_EQ(next_token("one"), last + 2);
  std::string content = read_file(path_ + "-lock");
  content[75] = static_cast<char>(content[75] ^ 0x10);
  (void)folder_.write("t.db-lock", content);
  EXPECT_EQ(next_token("one"), last + 4) << "a damaged mark says nothing";
}

TEST_F(LogLoss, ABitFlippedAnywhereInTheLogHandsNoTokenOutAgain) {
  const std::uint64_t last = lead(3, "one");
  const std::string log = read_file(path_ + "-wal");
  const std::string database = read_file(path_);
  const std::string mark = read_file(path_ + "-lock");
  int opened = 0;
  for (std::size_t at = 5; at < log.size(); at += 97) {
    std::string damaged = log;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    fs::remove(path_ + "-shm");
    (void)folder_.write("t.db", database);
    (void)folder_.write("t.db-wal", damaged);
    (void)folder_.write("t.db-lock", mark);
    Asker asker(executor_);
    if (!asker.open({.path = path_}, machine("one"))) continue;
    ++opened;
    const auto held = asker.acquire("next");
    if (held && held->ours) {
      EXPECT_GT(held->record->token, last) << "bit at " << at;
      EXPECT_TRUE(asker.release(*held->record)->released);
    }
    asker.destroy();
  }
  EXPECT_GT(opened, 10);
}

// The holder writes on into files that have no name any more; whoever comes next meets new ones.
TEST_F(LogLoss, WhileALeaderIsThereEndsItsTermAtItsNextRequest) {
  testkit::ManualExecutor executor(system_clock(), 7);
  Asker holder(executor);
  const auto environment = sqlite::read_environment();
  ASSERT_TRUE(environment.has_value());
  ASSERT_TRUE(holder.open({.path = path_}, *environment));
  const auto held = holder.acquire("holder");
  ASSERT_TRUE(held && held->ours);
  lose_log();
  Helper rival("open", path_);
  ASSERT_EQ(rival.line(), "ready");
  rival.go();
  const std::string line = rival.line();
  ASSERT_EQ(line.substr(0, 6), "leads ") << line;
  EXPECT_GT(std::stoull(line.substr(6)), held->record->token);
  // Between two of its renewals, which are seconds apart.
  (void)executor.wait_until([] { return false; }, std::chrono::seconds(1));
  const auto renewed = holder.renew(*held->record);
  ASSERT_TRUE(renewed.has_value()) << renewed.error().message;
  EXPECT_FALSE(renewed->held);
  ASSERT_TRUE(renewed->holder.has_value()) << "it sees the new files";
  EXPECT_FALSE(holder.acquire("holder")->ours);
}

// SQLite's last one out brings its log into the database and deletes what has the log's name.
TEST_F(LogLoss, AHolderWithoutANameForItsLogHarmsNotWhatCameAfter) {
  testkit::ManualExecutor executor(system_clock(), 7);
  Asker holder(executor);
  const auto environment = sqlite::read_environment();
  ASSERT_TRUE(environment.has_value());
  ASSERT_TRUE(holder.open({.path = path_}, *environment));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(holder.acquire("holder", "e" + std::to_string(i))->ours);
  }
  lose_log();
  std::uint64_t token = 0;
  {
    Helper rival("hold", path_);
    const std::string line = rival.line();
    ASSERT_EQ(line.substr(0, 6), "leads ") << line;
    token = std::stoull(line.substr(6));
  }
  const std::string log = read_file(path_ + "-wal");
  const std::string database = read_file(path_);
  holder.destroy();
  EXPECT_EQ(read_file(path_ + "-wal"), log);
  EXPECT_EQ(read_file(path_), database);
  Database after(path_);
  EXPECT_EQ(after.run("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(after.run("SELECT token FROM election"), std::to_string(token));
}

}  // namespace
}  // namespace tenure::test
