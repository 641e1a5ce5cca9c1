// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What `tenure run` and `tenure lock` do when their guardian, or they themselves, do not run.
#include "tests/cli/harness.h"

#include <tenure/clock.h>

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Instant time_of_last_begin(const Bench& bench) {
  const std::string mark = bench.last("begin");
  const auto blank = mark.find(' ');
  return Instant(Duration(std::atoll(mark.substr(blank + 1).c_str())));
}

pid_t pid_of_last_begin(const Bench& bench) {
  const std::string mark = bench.last("begin");
  return std::atoi(mark.substr(mark.rfind(' ') + 1).c_str());
}

bool says(const Process& process, const std::string& text) {
  return eventually([&] { return process.err().find(text) != std::string::npos; });
}

std::size_t count_of(const std::string& words, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++count;
  return count;
}

// The guardian of a process that has one, as soon as it has taken its name.
pid_t guardian_of(const Process& process) {
  std::vector<pid_t> guardians;
  EXPECT_TRUE(eventually([&] {
    guardians = children_named(process.pid(), "tenure-guard");
    return !guardians.empty();
  }));
  return guardians.empty() ? -1 : guardians[0];
}

// The same, of a candidate that waits.
pid_t waiting_guardian_of(const Process& process) {
  EXPECT_TRUE(says(process, "leads"));
  return guardian_of(process);
}

TEST(Run, KilledGuardianCostsTheTermAndLeavesNothing) {
  const Bench bench;
  const auto run = bench.start("run", "15s", bench.worker({"--ignore-term", "--daemon"}));
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto guardians = children_named(run->pid(), "tenure-guard");
  ASSERT_EQ(guardians.size(), 1U);
  kill(guardians[0], SIGKILL);
  ASSERT_TRUE(bench.wait_for("begin", 2));
  EXPECT_EQ(bench.count("overlap"), 0U);
  run->send(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM) << run->err();
  EXPECT_FALSE(bench.worker_lives());
}

TEST(Lock, KilledGuardianIsALostTerm) {
  const Bench bench;
  const auto lock = bench.start("lock", "15s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  kill(guardian_of(*lock), SIGKILL);
  EXPECT_EQ(lock->wait(), 70) << lock->err();
  EXPECT_FALSE(bench.worker_lives());
}

TEST(Run, StoppedGuardianDoesNotSaveTheCommand) {
  const Bench bench;
  const auto run = bench.start("run", "2s", bench.worker({"--ignore-term", "--daemon"}));
  ASSERT_TRUE(bench.wait_for("begin"));
  kill(guardian_of(*run), SIGSTOP);
  run->send(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM) << run->err();
  EXPECT_FALSE(bench.worker_lives());
}

// Two faults at once: the command may live on, but nobody else leads before the ttl is over.
TEST(Run, WithTenureAndGuardianStoppedTheNextStillWaitsForTheTtl) {
  const Bench bench;
  const auto first = bench.start("run", "2s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto second = bench.start("run", "2s", bench.worker());
  ASSERT_TRUE(eventually([&] { return second->err().find("leads") != std::string::npos; }));
  kill(guardian_of(*first), SIGSTOP);
  first->send(SIGSTOP);
  // Nothing renews from here on, so what the store says now is when it frees the election. It says
  // so in whole milliseconds, rounded down, counted from before this process has the answer.
  const Instant asked = system_clock().now();
  Process status(bench.dir, {tenure_binary(), "status", "--store", bench.store(), "--json"});
  ASSERT_EQ(status.wait(), 0) << status.err();
  const std::string said = status.out();
  const auto at = said.find("\"expires_in_ms\":");
  ASSERT_NE(at, std::string::npos) << said;
  const milliseconds left(std::atoi(said.c_str() + at + 16));
  ASSERT_TRUE(bench.wait_for("begin", 2));
  EXPECT_GT(left, milliseconds::zero()) << "too slow a machine to tell";
  EXPECT_GE(time_of_last_begin(bench), asked + left);
  first->send(SIGCONT);
  EXPECT_TRUE(
      eventually([&] { return first->err().find("no longer leading") != std::string::npos; }));
}

TEST(Run, ADeadGuardianOfAWaitingCandidateIsReplaced) {
  const Bench bench;
  const auto first = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto second = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(eventually([&] { return second->err().find("leads") != std::string::npos; }));
  const pid_t guardian = waiting_guardian_of(*second);
  kill(guardian, SIGKILL);
  first->send(SIGTERM);
  ASSERT_TRUE(bench.wait_for("begin", 2));
  EXPECT_EQ(bench.count("overlap"), 0U);
}

TEST(Run, AGuardianThatDiesYoungIsReplacedButNotForEver) {
  const Bench bench;
  const auto first = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto second = bench.start("run", "15s", bench.worker());
  pid_t killed = 0;
  std::optional<int> code;
  int kills = 0;
  const auto next_or_end = [&] {
    for (const pid_t next : children_named(second->pid(), "tenure-guard")) {
      if (next == killed) continue;
      kill(killed = next, SIGKILL);
      ++kills;
    }
    return code = second->wait(Duration::zero()), code.has_value();
  };
  EXPECT_TRUE(eventually(next_or_end));
  EXPECT_EQ(code, 126) << second->err();
  EXPECT_GE(kills, 5) << second->err();
}

// While nothing is asked of it, nobody can see that it does not run.
TEST(StoppedGuardian, OfAWaitingCandidateIsReplacedWhenItIsElected) {
  for (const char* command : {"run", "lock"}) {
    const Bench bench;
    const auto first = bench.start("run", "15s", bench.worker());
    ASSERT_TRUE(bench.wait_for("begin"));
    const auto second =
        bench.start(command, "15s", bench.worker({"--exit-on-term", "9"}), {"--log-level", "info"});
    ASSERT_TRUE(says(*second, "leads"));
    kill(guardian_of(*second), SIGSTOP);
    first->send(SIGTERM);
    ASSERT_TRUE(bench.wait_for("begin", 2)) << second->err();
    EXPECT_TRUE(says(*second, "the guardian process does not answer"));
    EXPECT_EQ(bench.count("overlap"), 0U);
    EXPECT_EQ(count_of("elected, token", second->err()), 1U) << "one term is enough";
    kill(pid_of_last_begin(bench), SIGTERM);
    if (std::string(command) == "lock") {
      EXPECT_EQ(second->wait(), 9) << second->err();
    }
  }
}

TEST(StoppedGuardian, OfAWaitingCandidateThatIsKilledWhenItIsElectedIsReplacedToo) {
  const Bench bench;
  const auto first = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto second = bench.start("lock", "15s", bench.worker({"--exit", "4"}), {"--verbose"});
  const pid_t guardian = waiting_guardian_of(*second);
  kill(guardian, SIGSTOP);
  first->send(SIGTERM);
  ASSERT_TRUE(says(*second, "elected"));
  kill(guardian, SIGKILL);
  EXPECT_EQ(second->wait(), 4) << second->err();
  EXPECT_EQ(bench.count("begin"), 2U);
}

// Renewals go on, so the term alone would last for ever.
TEST(StoppedGuardian, OfALeaderCostsTheTermBeforeTheDeadlineThatItKnew) {
  for (const char* command : {"run", "lock"}) {
    const Bench bench;
    const auto first = bench.start(command, "2s", bench.worker({"--ignore-term", "--daemon"}),
                                   {"--log-level", "info"});
    ASSERT_TRUE(bench.wait_for("begin"));
    const auto rival = bench.start("run", "2s", bench.worker());
    ASSERT_TRUE(says(*rival, "leads"));
    kill(guardian_of(*first), SIGSTOP);
    ASSERT_TRUE(bench.wait_for("begin", 2)) << first->err();
    EXPECT_TRUE(says(*first, "the guardian process did not act in time")) << first->err();
    EXPECT_EQ(bench.count("overlap"), 0U);
    if (std::string(command) == "lock") {
      EXPECT_EQ(first->wait(), 70) << first->err();
    }
  }
}

TEST(StoppedGuardian, DoesNotKeepATermWhoseCommandHasEnded) {
  for (const char* command : {"run", "lock"}) {
    const Bench bench;
    const auto first = bench.start(command, "2s", bench.worker(), {"--log-level", "info"});
    ASSERT_TRUE(bench.wait_for("begin"));
    const auto rival = bench.start("run", "2s", bench.worker());
    ASSERT_TRUE(says(*rival, "leads"));
    kill(guardian_of(*first), SIGSTOP);
    kill(pid_of_last_begin(bench), SIGKILL);
    ASSERT_TRUE(bench.wait_for("begin", 2)) << first->err();
    EXPECT_EQ(bench.count("overlap"), 0U);
    if (std::string(command) == "lock") {
      EXPECT_EQ(first->wait(), 70) << first->err();
    }
  }
}

TEST(StoppedGuardian, ThatIsContinuedInTimeIsNothing) {
  const Bench bench;
  const auto run = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const pid_t guardian = guardian_of(*run);
  for (std::size_t round = 0; round < 20; ++round) {
    kill(guardian, SIGSTOP);
    run->send(SIGUSR2);
    kill(guardian, SIGCONT);
    ASSERT_TRUE(bench.wait_for("signal " + std::to_string(SIGUSR2), round + 1));
  }
  run->send(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM) << run->err();
  EXPECT_EQ(bench.count("begin"), 1U);
}

// Its guardian has done all that had to be done: there is nothing to be alarmed about.
TEST(StoppedTenure, SaysOnlyWhatIsTrueWhenItIsContinued) {
  for (int round = 0; round < 3; ++round) {
    const Bench bench;
    const auto run = bench.start("run", "2s", bench.worker({"--ignore-term"}));
    ASSERT_TRUE(bench.wait_for("begin"));
    const pid_t guardian = guardian_of(*run);
    run->send(SIGSTOP);
    ASSERT_TRUE(eventually([&] { return !bench.worker_lives() && !alive(guardian); }));
    // Another one can have it: the deadline has passed.
    ASSERT_EQ(bench.start("lock", "2s", {"true"})->wait(), 0);
    const std::size_t said = run->err().size();
    run->send(SIGCONT);
    ASSERT_TRUE(bench.wait_for("begin", 2)) << run->err();
    // Not what it says of the next term, which a loaded machine may lose as well.
    std::string then = run->err().substr(said);
    then = then.substr(0, then.find("elected, token"));
    EXPECT_EQ(then.find("goes on"), std::string::npos) << then;
    EXPECT_EQ(then.find("guardian"), std::string::npos) << then;
  }
}

TEST(Grace, BelongsToTheCommandWhenTheEndIsVoluntary) {
  for (const int signal : {SIGTERM, SIGUSR1}) {
    const Bench bench;
    const auto run =
        bench.start("run", "2s", bench.worker({"--ignore-term"}), {"--grace", "600ms"});
    ASSERT_TRUE(bench.wait_for("begin"));
    const Stopwatch since_asked;
    run->send(signal);
    ASSERT_TRUE(eventually([&] { return !bench.worker_lives(); }));
    // The margin would be 200 ms of it.
    EXPECT_GE(since_asked.elapsed(), milliseconds(600));
    EXPECT_EQ(run->err().find("goes on"), std::string::npos) << "killed in time: " << run->err();
    run->send(SIGTERM);
    EXPECT_EQ(run->wait(), 128 + SIGTERM);
  }
}

}  // namespace
}  // namespace tenure::test
