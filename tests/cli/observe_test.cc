// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What people and programs see: status, watch, doctor, messages.
#include "tests/cli/harness.h"
#include "tests/cli/write_lock.h"

#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

json status_of(const Bench& bench, const std::vector<std::string>& extra = {}) {
  std::vector<std::string> arguments{tenure_binary(), "status", "--store", bench.store(), "--json"};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  Process status(bench.dir, arguments);
  EXPECT_EQ(status.wait(), 0) << status.err();
  return json::parse(status.out(), nullptr, false);
}

TEST(Status, OB01_ShowsWhoLeadsAndCreatesNothing) {
  const Bench bench;
  EXPECT_EQ(status_of(bench), json::array());
  EXPECT_TRUE(fs::is_empty(bench.dir.path()) || !fs::exists(bench.dir / "tenure.db"))
      << "status made a database";

  const auto run = bench.start("run", "15s", bench.worker(), {"--id", "me"});
  ASSERT_TRUE(bench.wait_for("begin"));
  const json list = status_of(bench);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0]["name"], "job");
  EXPECT_EQ(list[0]["holder"], "me");
  EXPECT_EQ(list[0]["token"], 1);
  EXPECT_EQ(list[0]["ttl_ms"], 15000);
  EXPECT_FALSE(list[0]["session"].get<std::string>().empty());
  EXPECT_GE(list[0]["held_for_ms"], 0);
  EXPECT_LE(list[0]["expires_in_ms"], 15000);
  EXPECT_EQ(status_of(bench, {"--name", "job"}).size(), 1U);

  Process table(bench.dir, {tenure_binary(), "status", "--store", bench.store()});
  EXPECT_EQ(table.wait(), 0);
  EXPECT_THAT(table.out(), HasSubstr("NAME"));
  EXPECT_THAT(table.out(), HasSubstr("job"));

  run->send(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM);
  const json after = status_of(bench);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0]["holder"], nullptr);
}

TEST(Watch, PrintsEachChangeAsALine) {
  const Bench bench;
  ASSERT_EQ(bench.start("lock", "15s", {"true"})->wait(), 0);
  Process watch(bench.dir, {tenure_binary(), "watch", "--store", bench.store(), "--json"});
  const auto saw = [&](std::size_t lines) {
    return eventually([&] { return lines_of(watch.out()).size() >= lines; });
  };
  ASSERT_TRUE(saw(1)) << watch.err();
  const auto run = bench.start("run", "15s", bench.worker(), {"--id", "me"});
  ASSERT_TRUE(saw(2));
  run->send(SIGTERM);
  ASSERT_TRUE(saw(3));
  const auto lines = lines_of(watch.out());
  const json present = json::parse(lines[0]);
  EXPECT_EQ(present["event"], "vacant");
  EXPECT_EQ(present["reason"], "present state");
  EXPECT_EQ(present["name"], "job");
  const json elected = json::parse(lines[1]);
  EXPECT_EQ(elected["event"], "elected");
  EXPECT_EQ(elected["holder"], "me");
  EXPECT_GT(elected["token"], 1);
  EXPECT_EQ(json::parse(lines[2])["event"], "vacant");
  for (const auto& line : lines) {
    for (const char* key : {"time", "name", "event", "holder", "token", "reason"}) {
      EXPECT_TRUE(json::parse(line).contains(key)) << key << line;
    }
  }
  watch.send(SIGINT);
  EXPECT_EQ(watch.wait(), 128 + SIGINT);
}

TEST(Watch, AnElectionThatIsNewIsNoPresentState) {
  const Bench bench;
  ASSERT_EQ(bench.start("lock", "15s", {"true"})->wait(), 0);
  Process watch(bench.dir, {tenure_binary(), "watch", "--store", bench.store(), "--json"});
  const auto saw = [&](const std::string& text) {
    return eventually([&] { return watch.out().find(text) != std::string::npos; });
  };
  ASSERT_TRUE(saw("present state")) << watch.err();
  Process lock(bench.dir, {tenure_binary(), "lock", "--name", "born", "--store", bench.store(),
                           "--id", "me", "--", "sleep", "1000"});
  ASSERT_TRUE(saw("born")) << watch.err();
  const json born = json::parse(lines_of(watch.out()).at(1));
  EXPECT_EQ(born["event"], "elected");
  EXPECT_EQ(born["reason"], nullptr);
}

// Of an election by name there is always a state, also when the store has none of it.
TEST(Watch, AnElectionThatIsNamedHasAPresentState) {
  const Bench bench;
  ASSERT_EQ(bench.start("lock", "15s", {"true"})->wait(), 0);
  Process watch(bench.dir,
                {tenure_binary(), "watch", "--store", bench.store(), "--name", "none", "--json"});
  ASSERT_TRUE(eventually([&] { return !watch.out().empty(); }));
  const json present = json::parse(watch.out());
  EXPECT_EQ(present["event"], "vacant");
  EXPECT_EQ(present["reason"], "present state");
}

TEST(Watch, EndsWhenNobodyReadsAnyMore) {
  const Bench bench;
  ASSERT_EQ(bench.start("lock", "15s", {"true"})->wait(), 0);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  Process watch(bench.dir, {tenure_binary(), "watch", "--store", bench.store()}, {.out = ends[1]});
  close(ends[1]);
  std::array<char, 256> line{};
  ASSERT_GT(read(ends[0], line.data(), line.size()), 0);
  close(ends[0]);
  EXPECT_EQ(watch.wait(seconds(10)), 128 + SIGPIPE);
}

TEST(Doctor, SaysWhatIsWrongAndCreatesNothing) {
  const Bench bench;
  Process fine(bench.dir, {tenure_binary(), "doctor", "--store", bench.store()});
  EXPECT_EQ(fine.wait(), 0) << fine.out();
  EXPECT_THAT(fine.out(), HasSubstr("boot clock"));
  EXPECT_THAT(fine.out(), HasSubstr("is not there yet"));
  EXPECT_FALSE(fs::exists(bench.dir / "tenure.db"));

  const std::string foreign = bench.dir.write("foreign.db", std::string(5000, 'z'));
  Process bad(bench.dir, {tenure_binary(), "doctor", "--store", "sqlite:" + foreign, "--json"});
  EXPECT_EQ(bad.wait(), 69);
  bool found = false;
  for (const json& finding : json::parse(bad.out())) {
    EXPECT_EQ(finding["advice"].is_null(), finding["verdict"] == "ok") << finding;
    if (finding["check"] != "store") continue;
    found = finding["verdict"] == "bad" && !finding["advice"].get<std::string>().empty();
  }
  EXPECT_TRUE(found) << bad.out();
  EXPECT_EQ(read_file(foreign), std::string(5000, 'z'));

  Process usage(bench.dir, {tenure_binary(), "doctor", "--ttl", "5"});
  EXPECT_EQ(usage.wait(), 64);
}

TEST(Messages, TellWhoLeadsWhatHappenedAndWhy) {
  const Bench bench;
  const auto first =
      bench.start("run", "15s", bench.worker({"--exit-on-term", "3"}), {"--id", "one"});
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto second = bench.start("run", "15s", bench.worker(), {"--id", "two"});
  ASSERT_TRUE(eventually([&] { return second->err().find("'one' leads") != std::string::npos; }))
      << second->err();
  first->send(SIGUSR1);
  ASSERT_TRUE(bench.wait_for("begin", 2));
  EXPECT_TRUE(eventually([&] { return first->err().find("'two' leads") != std::string::npos; }))
      << first->err();
  const std::string said = first->err();
  EXPECT_THAT(said, HasSubstr("tenure: job: elected, token 1"));
  EXPECT_THAT(said, HasSubstr("yield"));
  EXPECT_THAT(said, HasSubstr("command ended with code 3"));
  EXPECT_EQ(said.find('\r'), std::string::npos) << "progress is for terminals";
}

TEST(Messages, QuietSaysNothingAndVerboseMore) {
  const Bench bench;
  const auto quiet = bench.start("run", "15s", bench.worker(), {"--quiet"});
  ASSERT_TRUE(bench.wait_for("begin"));
  quiet->send(SIGTERM);
  EXPECT_EQ(quiet->wait(), 128 + SIGTERM);
  EXPECT_EQ(quiet->err(), "");
  const auto verbose = bench.start("run", "15s", bench.worker(), {"--verbose"});
  ASSERT_TRUE(bench.wait_for("begin", 2));
  verbose->send(SIGTERM);
  EXPECT_EQ(verbose->wait(), 128 + SIGTERM);
  EXPECT_THAT(verbose->err(), HasSubstr("asking the command to end"));
}

TEST(Outage, OB03_CL03_CommandIsDeadBeforeTheRivalStarts) {
  const Bench bench;
  const auto first = bench.start("run", "500ms", bench.worker({"--ignore-term", "--daemon"}));
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto second = bench.start("run", "500ms", bench.worker({"--ignore-term", "--daemon"}));
  // Over and over: nobody can renew, the leader loses its term, then somebody leads again.
  for (std::size_t round = 2; round <= 51; ++round) {
    {
      const WriteLock lock(bench.dir / "tenure.db");
      ASSERT_TRUE(lock.held());
      ASSERT_TRUE(eventually([&] { return !bench.worker_lives(); })) << "round " << round;
    }
    ASSERT_TRUE(bench.wait_for("begin", round))
        << "round " << round << first->err() << second->err();
  }
  EXPECT_EQ(bench.count("overlap"), 0U);
  first->send(SIGTERM);
  second->send(SIGTERM);
  EXPECT_EQ(first->wait(), 128 + SIGTERM);
  EXPECT_EQ(second->wait(), 128 + SIGTERM);
  EXPECT_THAT(first->err(), HasSubstr("no longer leading: expired"));
  EXPECT_THAT(first->err(), HasSubstr("store: "));
}

TEST(Outage, CL04_LostUnderTheCommandIs70) {
  const Bench bench;
  const auto lock = bench.start("lock", "500ms", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const WriteLock stuck(bench.dir / "tenure.db");
  ASSERT_TRUE(stuck.held());
  EXPECT_EQ(lock->wait(), 70) << lock->err();
  EXPECT_FALSE(bench.worker_lives());
}

TEST(Outage, AStoreThatDoesNotAnswerWithinTheTimeoutIs69) {
  const Bench bench;
  ASSERT_EQ(bench.start("lock", "15s", {"true"})->wait(), 0);
  const WriteLock stuck(bench.dir / "tenure.db");
  ASSERT_TRUE(stuck.held());
  const auto lock = bench.start("lock", "1s", bench.worker(), {"--timeout", "500ms"});
  EXPECT_EQ(lock->wait(), 69) << lock->err();
  EXPECT_EQ(bench.count("begin"), 0U);
}

TEST(Completion, ScriptsAreValidForTheirShells) {
  const Bench bench;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    Process completion(bench.dir, {tenure_binary(), "completion", shell});
    ASSERT_EQ(completion.wait(), 0) << completion.err();
    EXPECT_THAT(completion.out(), HasSubstr("timeout"));
    if (!fs::exists("/usr/bin/" + shell) && !fs::exists("/bin/" + shell)) continue;
    const std::string script = bench.dir.write("script", completion.out());
    Process check(bench.dir, {"/usr/bin/env", shell, "-n", script});
    EXPECT_EQ(check.wait(), 0) << check.err();
  }
}

TEST(Completion, BashOffersCommandsOptionsAndPrograms) {
  const Bench bench;
  Process completion(bench.dir, {tenure_binary(), "completion", "bash"});
  ASSERT_EQ(completion.wait(), 0);
  const std::string script = bench.dir.write("script", completion.out());
  const auto offered = [&](const std::string& words, const std::string& index) {
    Process bash(bench.dir, {"/bin/bash", "-c",
                             "source " + script + "; COMP_WORDS=(" + words +
                                 "); COMP_CWORD=" + index + "; _tenure; echo ${COMPREPLY[@]}"});
    EXPECT_EQ(bash.wait(), 0) << bash.err();
    return bash.out();
  };
  EXPECT_EQ(offered("tenure ru", "1"), "run\n");
  EXPECT_EQ(offered("tenure run --gr", "2"), "--grace\n");
  EXPECT_EQ(offered("tenure run --log-level de", "3"), "debug\n");
  EXPECT_EQ(offered("tenure completion z", "2"), "zsh\n");
  EXPECT_EQ(offered("tenure simulate w", "2"), "writers\n");
  EXPECT_EQ(offered("tenure simulate writers --s", "3"), "--seed --svg\n");
  EXPECT_THAT(offered("tenure run --name x -- tru", "5"), HasSubstr("true"));
}

}  // namespace
}  // namespace tenure::test
