// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores that hang and readers that do not read: what a user asks for happens all the same.
#include "tests/cli/harness.h"
#include "tests/cli/write_lock.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace tenure::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

// With this ttl a request to the store may take 10 s, and everything that was derived from it more.
constexpr const char* kLongTtl = "10m";
// Far below that, and far above what a loaded machine needs.
constexpr Duration kSoon = seconds(8);

pid_t pid_of_last_begin(const Bench& bench) {
  const std::string mark = bench.last("begin");
  return std::atoi(mark.substr(mark.rfind(' ') + 1).c_str());
}

class HungStore : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] std::string database() const { return bench_.dir / "tenure.db"; }
  Bench bench_;
};

TEST_P(HungStore, DoesNotKeepALeaderThatIsToEnd) {
  for (const char* command : {"run", "lock"}) {
    const Bench bench;
    const auto tenure = bench.start(command, kLongTtl, bench.worker());
    ASSERT_TRUE(bench.wait_for("begin"));
    const WriteLock stuck(bench.dir / "tenure.db");
    ASSERT_TRUE(stuck.held());
    tenure->send(GetParam());
    EXPECT_EQ(tenure->wait(kSoon), 128 + GetParam()) << tenure->err();
    EXPECT_FALSE(bench.worker_lives());
    EXPECT_THAT(tenure->err(), HasSubstr("lapse")) << "the user is told what frees the election";
  }
}

TEST_P(HungStore, DoesNotKeepAWaitingCandidateThatIsToEnd) {
  const auto leader = bench_.start("run", kLongTtl, bench_.worker());
  ASSERT_TRUE(bench_.wait_for("begin"));
  const auto lock = bench_.start("lock", kLongTtl, bench_.worker(), {"--verbose"});
  ASSERT_TRUE(eventually([&] { return lock->err().find("leads") != std::string::npos; }));
  const WriteLock stuck(database());
  ASSERT_TRUE(stuck.held());
  lock->send(GetParam());
  EXPECT_EQ(lock->wait(kSoon), 128 + GetParam()) << lock->err();
}

// Between the end of the command and that of `lock`.
TEST_P(HungStore, DoesNotKeepALockWhoseCommandHasEndedAndItsCodeStays) {
  const auto lock = bench_.start("lock", kLongTtl, bench_.worker({"--exit-on-term", "9"}));
  ASSERT_TRUE(bench_.wait_for("begin"));
  const WriteLock stuck(database());
  ASSERT_TRUE(stuck.held());
  kill(pid_of_last_begin(bench_), SIGTERM);
  ASSERT_TRUE(bench_.wait_for("end"));
  lock->send(GetParam());
  const auto code = lock->wait(kSoon);
  // The signal may be seen before the end of the command is.
  EXPECT_TRUE(code == 9 || code == 128 + GetParam()) << code.value_or(-1) << lock->err();
  EXPECT_FALSE(bench_.worker_lives());
}

TEST_P(HungStore, ASecondSignalIsNotKeptAtAll) {
  const auto run =
      bench_.start("run", kLongTtl, bench_.worker({"--ignore-term"}), {"--grace", "5m"});
  ASSERT_TRUE(bench_.wait_for("begin"));
  const WriteLock stuck(database());
  ASSERT_TRUE(stuck.held());
  run->send(GetParam());
  ASSERT_TRUE(bench_.wait_for("signal 15"));
  run->send(GetParam());
  EXPECT_EQ(run->wait(kSoon), 128 + GetParam()) << run->err();
  EXPECT_THAT(run->err(), HasSubstr("again: killing the command"));
  EXPECT_FALSE(bench_.worker_lives());
}

TEST_P(HungStore, DoesNotKeepAPauseThatIsToEnd) {
  const auto run = bench_.start("run", kLongTtl, bench_.worker({"--exit", "1"}));
  ASSERT_TRUE(eventually([&] {
    return run->err().find("standing again in 2s") != std::string::npos;
  })) << run->err();
  const WriteLock stuck(database());
  ASSERT_TRUE(stuck.held());
  run->send(GetParam());
  EXPECT_EQ(run->wait(kSoon), 128 + GetParam()) << run->err();
}

INSTANTIATE_TEST_SUITE_P(All, HungStore, testing::Values(SIGTERM, SIGINT, SIGHUP, SIGQUIT),
                         [](const auto& param) { return std::string(sigabbrev_np(param.param)); });

TEST(HungStoreTimeout, IsOnTime) {
  const Bench bench;
  ASSERT_EQ(bench.start("lock", "15s", {"true"})->wait(), 0);
  const WriteLock stuck(bench.dir / "tenure.db");
  ASSERT_TRUE(stuck.held());
  for (const char* timeout : {"1ms", "1500ms"}) {
    const auto lock = bench.start("lock", kLongTtl, bench.worker(), {"--timeout", timeout});
    EXPECT_EQ(lock->wait(kSoon), 69) << lock->err();
    EXPECT_THAT(lock->err(), HasSubstr("did not answer"));
  }
  EXPECT_EQ(bench.count("begin"), 0U);
}

TEST(HungStoreTimeout, IsOnTimeWhenItHungLater) {
  const Bench bench;
  const auto leader = bench.start("run", kLongTtl, bench.worker());
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto lock = bench.start("lock", kLongTtl, bench.worker(), {"--timeout", "3s", "--verbose"});
  ASSERT_TRUE(eventually([&] { return lock->err().find("leads") != std::string::npos; }));
  const WriteLock stuck(bench.dir / "tenure.db");
  ASSERT_TRUE(stuck.held());
  EXPECT_EQ(lock->wait(kSoon), 75) << lock->err();
}

// A pipe that is full, and whose reader has gone to sleep.
class StalledPipe {
 public:
  StalledPipe() {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    const std::array<char, 1> byte{'x'};
    while (write(ends_[1], byte.data(), 1) == 1) {
    }
    fcntl(ends_[1], F_SETFL, 0);
  }
  StalledPipe(const StalledPipe&) = delete;
  StalledPipe& operator=(const StalledPipe&) = delete;
  ~StalledPipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  [[nodiscard]] int writer() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Whether the process's first thread is in write(2) on its standard output.
bool is_writing(const Process& process) {
  const std::string call = read_file("/proc/" + std::to_string(process.pid()) + "/syscall");
  return call.starts_with(std::to_string(SYS_write) + " 0x1 ");
}

TEST(StalledReader, KeepsNoCommandThatOnlyShows) {
  const Bench bench;
  ASSERT_EQ(bench.start("lock", "15s", {"true"})->wait(), 0);
  const StalledPipe pipe;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"watch", "--store", bench.store()},
        {"watch", "--json", "--store", bench.store()},
        {"status", "--json", "--store", bench.store()},
        {"doctor", "--store", bench.store()},
        {"completion", "bash"},
        {"version"},
        {"--help"}}) {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
      std::vector<std::string> arguments{tenure_binary()};
      arguments.insert(arguments.end(), words.begin(), words.end());
      Process process(bench.dir, arguments, {.out = pipe.writer()});
      ASSERT_TRUE(eventually([&] { return is_writing(process); })) << words[0] << process.err();
      process.send(signal);
      const auto code = process.wait(kSoon);
      // 128 + n as a code is what `watch` promises; a shell sees no difference.
      const int wanted = words[0] == "watch" ? 128 + signal : 1000 + signal;
      EXPECT_EQ(code, wanted) << words[0];
    }
  }
}

TEST(StalledReader, OfMessagesDelaysNothing) {
  const Bench bench;
  const StalledPipe pipe;
  const auto run = bench.start("run", "1s", bench.worker({"--ignore-term"}), {"--verbose"},
                               {.err = pipe.writer()});
  ASSERT_TRUE(bench.wait_for("begin"));
  const auto rival = bench.start("run", "1s", bench.worker());
  ASSERT_TRUE(eventually([&] { return rival->err().find("leads") != std::string::npos; }));
  run->send(SIGUSR1);
  ASSERT_TRUE(bench.wait_for("begin", 2));
  EXPECT_EQ(bench.count("overlap"), 0U);
  run->send(SIGTERM);
  EXPECT_EQ(run->wait(kSoon), 128 + SIGTERM);
}

}  // namespace
}  // namespace tenure::test
