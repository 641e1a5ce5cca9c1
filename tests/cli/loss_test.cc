// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What is said of the end of a term, and what follows it.
#include "tests/cli/harness.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <sqlite3.h>
#include <string>
#include <vector>

namespace tenure::test {
namespace {

std::string losses_in(const std::string& messages) {
  std::string found;
  for (const std::string& line : lines_of(messages)) {
    if (line.find("no longer leading") != std::string::npos) found += line + "\n";
  }
  return found;
}

// As somebody with the sqlite3 command does; gives the first column of the first row.
std::string in_database(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
  sqlite3_busy_timeout(db, 10'000);
  std::string first;
  const auto take = [](void* to, int /*columns*/, char** values, char** /*names*/) {
    *static_cast<std::string*>(to) = values[0] == nullptr ? "" : values[0];
    return 0;
  };
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), take, &first, nullptr), SQLITE_OK) << sql;
  sqlite3_close(db);
  return first;
}

TEST(Run, ATermThatASignalEndsIsSaidToBeStopped) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    for (int round = 0; round < 5; ++round) {
      const Bench bench;
      const auto run = bench.start("run", "15s", bench.worker());
      ASSERT_TRUE(bench.wait_for("begin"));
      run->send(signal);
      ASSERT_EQ(run->wait(), 128 + signal) << run->err();
      const std::string said = losses_in(run->err());
      ASSERT_EQ(lines_of(said).size(), 1U) << run->err();
      ASSERT_NE(said.find("no longer leading: stopped"), std::string::npos) << said;
    }
  }
}

// The counter that tokens come from says more than any message: a term that is given back before
// it is announced raises it too.
TEST(Lock, TakesNoSecondTermAfterALoss) {
  for (int round = 0; round < 5; ++round) {
    const Bench bench;
    const auto lock = bench.start("lock", "1s", bench.worker(), {"--log-level", "info"});
    ASSERT_TRUE(bench.wait_for("begin"));
    const std::string path = bench.dir / "tenure.db";
    EXPECT_EQ(in_database(path, "DELETE FROM election; SELECT changes()"), "1");
    ASSERT_EQ(lock->wait(), 70) << lock->err();
    EXPECT_EQ(in_database(path, "SELECT last_revision FROM meta"), "1") << lock->err();
    EXPECT_EQ(lines_of(losses_in(lock->err())).size(), 1U) << lock->err();
    EXPECT_EQ(bench.count("begin"), 1U);
    EXPECT_FALSE(bench.worker_lives());
  }
}

// The end of the record, as the database has it, moves on while its holder lives.
TEST(Run, SB07_AHolderRenewsForAsLongAsItHolds) {
  constexpr Duration kTtl = std::chrono::seconds(1);
  const Bench bench;
  const auto holder = bench.start("run", "1s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto contender = bench.start("run", "1s", bench.worker());
  const Stopwatch time;
  std::set<std::string> ends;
  ASSERT_TRUE(eventually([&] {
    ends.insert(in_database(bench.dir / "tenure.db", "SELECT expires FROM election"));
    return time.elapsed() > 5 * kTtl;
  }));
  // Nominally fifteen; with fewer than five it could not have held on.
  EXPECT_GE(ends.size(), 5U);
  EXPECT_EQ(in_database(bench.dir / "tenure.db", "SELECT token FROM election"), "1");
  EXPECT_EQ(bench.count("begin"), 1U) << holder->err() << contender->err();
  EXPECT_EQ(bench.count("overlap"), 0U);
}

// Waiting does not mend that: the leader tries until its deadline, who waits ends at once.
TEST(Run, EndsWith69WhenItsStoreTurnsIntoADatabaseOfAnotherProgram) {
  const Bench bench;
  const auto leader = bench.start("run", "2s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto waiter = bench.start("run", "2s", bench.worker());
  ASSERT_TRUE(eventually([&] { return waiter->err().find("leads") != std::string::npos; }));
  const std::string path = bench.dir / "tenure.db";
  in_database(bench.dir.write("foreign.db", ""), "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  const std::string content = read_file(bench.dir / "foreign.db");
  std::filesystem::rename(bench.dir / "foreign.db", path);
  for (const auto& each : {waiter.get(), leader.get()}) {
    EXPECT_EQ(each->wait(), 69) << each->err();
    EXPECT_NE(each->err().find("another program"), std::string::npos) << each->err();
  }
  EXPECT_EQ(bench.count("begin"), 1U);
  EXPECT_EQ(bench.count("overlap"), 0U);
  EXPECT_FALSE(bench.worker_lives());
  EXPECT_EQ(read_file(path), content);
}

TEST(Run, EndsWith69WhenTheTablesOfItsStoreAreGone) {
  const Bench bench;
  const auto leader = bench.start("run", "2s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  in_database(bench.dir / "tenure.db", "DROP TABLE election");
  EXPECT_EQ(leader->wait(), 69) << leader->err();
  EXPECT_NE(leader->err().find("election"), std::string::npos) << leader->err();
  EXPECT_FALSE(bench.worker_lives());
}

// As one does whose map of SQLite's index was cut off.
TEST(Run, ALeaderThatABusErrorEndsTakesItsCommandAlongBeforeTheNextBegins) {
  const Bench bench;
  const auto first = bench.start("run", "15s", bench.worker({"--ignore-term", "--daemon"}));
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto second = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(eventually([&] { return second->err().find("leads") != std::string::npos; }));
  first->send(SIGBUS);
  ASSERT_TRUE(bench.wait_for("begin", 2));
  EXPECT_EQ(bench.count("overlap"), 0U);
}

// It may be killed before it has said that it started the command.
TEST(Lock, RunsNothingTwiceWhenItsGuardianIsKilled) {
  for (int round = 0; round < 10; ++round) {
    const Bench bench;
    const auto lock = bench.start("lock", "15s", bench.worker());
    ASSERT_TRUE(bench.wait_for("begin"));
    kill(children_named(lock->pid(), "tenure-guard").at(0), SIGKILL);
    ASSERT_EQ(lock->wait(), 70) << lock->err();
    EXPECT_EQ(bench.count("begin"), 1U);
    EXPECT_FALSE(bench.worker_lives());
  }
}

// It was elected in order to run something that is not there any more.
TEST(Run, TakesNoSecondTermForACommandThatCannotBeRun) {
  const Bench bench;
  const auto first = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const std::string shell = bench.dir / "shell";
  std::filesystem::create_symlink("/bin/sh", shell);
  const std::string script = bench.dir.write("script", "#!" + shell + "\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const auto second = bench.start("run", "15s", {script});
  ASSERT_TRUE(eventually([&] { return second->err().find("leads") != std::string::npos; }));
  std::filesystem::remove(shell);
  first->send(SIGTERM);
  EXPECT_EQ(second->wait(), 126) << second->err();
  const std::string said = losses_in(second->err());
  EXPECT_EQ(lines_of(said).size(), 1U) << second->err();
  EXPECT_NE(said.find("stopped"), std::string::npos) << said;
}

}  // namespace
}  // namespace tenure::test
