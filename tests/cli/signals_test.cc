// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Every signal in every phase: the exit code, and that nothing survives.
#include "tests/cli/harness.h"

#include <tenure/clock.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <unistd.h>

namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool waits(const Process& process) {
  return eventually([&] { return process.err().find("leads") != std::string::npos; });
}

class EndingSignal : public testing::TestWithParam<int> {
 protected:
  Bench bench_;
};

TEST_P(EndingSignal, CL01_WhileWaiting) {
  const auto leader = bench_.start("run", "15s", bench_.worker());
  ASSERT_TRUE(bench_.wait_for("begin"));
  const auto run = bench_.start("run", "15s", bench_.worker());
  const auto lock = bench_.start("lock", "15s", bench_.worker(), {"--verbose"});
  ASSERT_TRUE(waits(*run));
  ASSERT_TRUE(waits(*lock));
  run->send(GetParam());
  lock->send(GetParam());
  EXPECT_EQ(run->wait(seconds(5)), 128 + GetParam()) << run->err();
  EXPECT_EQ(lock->wait(seconds(5)), 128 + GetParam()) << lock->err();
  EXPECT_EQ(bench_.count("begin"), 1U);
}

TEST_P(EndingSignal, CL01_WhileLeadingWithACommandThatObeys) {
  for (const char* command : {"run", "lock"}) {
    const auto tenure = bench_.start(command, "15s", bench_.worker({"--exit-on-term", "9"}));
    const std::size_t before = bench_.count("begin");
    ASSERT_TRUE(bench_.wait_for("begin", before + 1));
    tenure->send(GetParam());
    EXPECT_EQ(tenure->wait(seconds(5)), 128 + GetParam()) << tenure->err();
    EXPECT_EQ(bench_.last("signal"), std::to_string(SIGTERM));
    EXPECT_FALSE(bench_.worker_lives());
  }
  EXPECT_EQ(bench_.count("end"), 2U);
}

TEST_P(EndingSignal, CL01_WhileLeadingWithACommandThatIgnoresIt) {
  for (const char* command : {"run", "lock"}) {
    const std::size_t before = bench_.count("begin");
    const auto tenure = bench_.start(command, "15s", bench_.worker({"--ignore-term", "--daemon"}),
                                     {"--grace", "200ms"});
    ASSERT_TRUE(bench_.wait_for("begin", before + 1));
    tenure->send(GetParam());
    EXPECT_EQ(tenure->wait(seconds(5)), 128 + GetParam()) << tenure->err();
    EXPECT_FALSE(bench_.worker_lives());
  }
  // Released, not left to the ttl.
  const auto next = bench_.start("lock", "15s", bench_.worker({"--exit", "4"}));
  EXPECT_EQ(next->wait(seconds(5)), 4);
}

TEST_P(EndingSignal, CL01_ASecondOneWhileStoppingHurries) {
  for (const char* command : {"run", "lock"}) {
    for (const int second : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
      const Bench bench;
      const auto tenure =
          bench.start(command, "60s", bench.worker({"--ignore-term"}), {"--grace", "25s"});
      ASSERT_TRUE(bench.wait_for("begin"));
      tenure->send(GetParam());
      ASSERT_TRUE(bench.wait_for("signal 15"));
      tenure->send(second);
      EXPECT_EQ(tenure->wait(seconds(10)), 128 + GetParam())
          << command << ": the first signal decides: " << tenure->err();
      EXPECT_FALSE(bench.worker_lives());
    }
  }
}

TEST_P(EndingSignal, CL01_OtherSignalsWhileStoppingChangeNothing) {
  for (const char* command : {"run", "lock"}) {
    const Bench bench;
    const auto tenure =
        bench.start(command, "60s", bench.worker({"--ignore-term"}), {"--grace", "25s"});
    ASSERT_TRUE(bench.wait_for("begin"));
    tenure->send(GetParam());
    ASSERT_TRUE(bench.wait_for("signal 15"));
    tenure->send(SIGUSR1);
    tenure->send(SIGUSR2);
    ASSERT_TRUE(bench.wait_for("signal " + std::to_string(SIGUSR2))) << "passed on, as ever";
    EXPECT_TRUE(tenure->running());
    EXPECT_EQ(bench.count("signal " + std::to_string(SIGUSR1)), 0U);
    tenure->send(SIGTERM);
    EXPECT_EQ(tenure->wait(seconds(10)), 128 + GetParam()) << tenure->err();
    EXPECT_FALSE(bench.worker_lives());
  }
}

TEST_P(EndingSignal, CL01_InThePauseAfterAFastCommand) {
  const auto run = bench_.start("run", "15s", bench_.worker({"--exit", "1"}));
  // The second pause takes a second, the third two: time enough to be met in it.
  ASSERT_TRUE(bench_.wait_for("end", 3));
  ASSERT_TRUE(eventually([&] {
    return run->err().find("standing again in 2s") != std::string::npos;
  })) << run->err();
  run->send(GetParam());
  EXPECT_EQ(run->wait(seconds(5)), 128 + GetParam()) << run->err();
  EXPECT_FALSE(bench_.worker_lives());
}

INSTANTIATE_TEST_SUITE_P(All, EndingSignal, testing::Values(SIGTERM, SIGINT, SIGHUP, SIGQUIT),
                         [](const auto& param) { return std::string(sigabbrev_np(param.param)); });

// `run` with the options that make it end by itself.
TEST(OtherSignals, RunOnceIs70AfterAYieldAndRunWithATimeoutIs75) {
  const Bench bench;
  const auto once = bench.start("run", "15s", bench.worker(), {"--once"});
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto late = bench.start("run", "15s", bench.worker(), {"--timeout", "200ms"});
  EXPECT_EQ(late->wait(), 75) << late->err();
  once->send(SIGUSR1);
  EXPECT_EQ(once->wait(), 70) << once->err();
  EXPECT_EQ(bench.count("begin"), 1U);
}

TEST(OtherSignals, PassToTheCommand) {
  const Bench bench;
  const auto run = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  for (const int signal : {SIGUSR2, SIGWINCH, SIGCONT, SIGALRM, SIGRTMIN + 2}) {
    run->send(signal);
    EXPECT_TRUE(bench.wait_for("signal " + std::to_string(signal))) << signal;
  }
  EXPECT_EQ(bench.count("end"), 0U);
  run->send(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM);
}

TEST(OtherSignals, DoNotEndAWaitingCandidate) {
  const Bench bench;
  const auto first = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto second = bench.start("run", "15s", bench.worker());
  ASSERT_TRUE(waits(*second));
  for (const int signal : {SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGALRM, SIGPIPE}) {
    second->send(signal);
  }
  first->send(SIGTERM);
  EXPECT_EQ(first->wait(), 128 + SIGTERM);
  ASSERT_TRUE(bench.wait_for("begin", 2)) << second->err();
}

TEST(InheritedSignals, AreNoTrap) {
  const Bench bench;
  // Blocked and ignored signals as a careless parent leaves them.
  const std::string script =
      "import os, signal, sys\n"
      "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
      "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
      "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
      "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\n"
      "os.execv(sys.argv[1], sys.argv[1:])\n";
  std::vector<std::string> arguments{"/usr/bin/python3", "-c",  script,    tenure_binary(), "lock",
                                     "--name",           "job", "--store", bench.store(),   "--"};
  for (const std::string& word : bench.worker({"--exit", "3"})) arguments.push_back(word);
  if (access("/usr/bin/python3", X_OK) != 0)
    GTEST_SKIP() << "needs python3 for the careless parent";
  Process lock(bench.dir, arguments);
  EXPECT_EQ(lock.wait(), 3) << lock.err();
  EXPECT_EQ(bench.last("mask"), "clean default");
}

TEST(InheritedSignals, AHangupThatWasIgnoredStaysIgnored) {
  const Bench bench;
  std::vector<std::string> arguments{"/usr/bin/nohup", tenure_binary(), "run", "--name", "job",
                                     "--store",        bench.store(),   "--"};
  for (const std::string& word : bench.worker()) arguments.push_back(word);
  Process run(bench.dir, arguments);
  ASSERT_TRUE(bench.wait_for("begin"));
  run.send(SIGHUP);
  run.send(SIGUSR2);
  ASSERT_TRUE(bench.wait_for("signal 12"));
  EXPECT_EQ(bench.count("end"), 0U);
  run.send(SIGTERM);
  EXPECT_EQ(run.wait(), 128 + SIGTERM);
}

// As process 1 of a container: strangers that are left to it are reaped.
TEST(Pid1, CL07_ReapsStrangers) {
  const Bench bench;
  std::vector<std::string> arguments{"/usr/bin/unshare", "--pid",       "--fork", "--mount-proc",
                                     tenure_binary(),    "run",         "--name", "job",
                                     "--store",          bench.store(), "--"};
  for (const std::string& word : bench.worker()) arguments.push_back(word);
  Process run(bench.dir, arguments);
  if (!eventually([&] { return bench.count("begin") > 0 || !run.running(); }) || !run.running()) {
    GTEST_SKIP() << "this machine allows no process namespace: " << run.err();
  }
  // unshare's child is process 1 in there.
  const std::string id = std::to_string(run.pid());
  const pid_t init = std::atoi(read_file("/proc/" + id + "/task/" + id + "/children").c_str());
  ASSERT_GT(init, 0);
  Process stranger(bench.dir,
                   {"/usr/bin/nsenter", "--target", std::to_string(init), "--pid", "--mount",
                    "/bin/sh", "-c", "sh -c 'sh -c \"exit 0\" & exit 0' & exit 0"});
  EXPECT_EQ(stranger.wait(), 0) << stranger.err();
  EXPECT_TRUE(eventually([&] {
    const std::string children =
        read_file("/proc/" + std::to_string(init) + "/task/" + std::to_string(init) + "/children");
    return std::count(children.begin(), children.end(), ' ') == 1;
  })) << "only the guardian should be left as a child of process 1";
  kill(init, SIGTERM);
  EXPECT_EQ(run.wait(), 128 + SIGTERM) << run.err();
}

}  // namespace
}  // namespace tenure::test
