// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// On a terminal: who has it, what Ctrl-C and Ctrl-Z do. A pseudo-terminal plays the terminal.
#include "tests/cli/harness.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sched.h>
#include <string>
#include <termios.h>
#include <unistd.h>

namespace tenure::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class OnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(openpty(&user_, &terminal_, nullptr, nullptr, nullptr), 0);
    fcntl(user_, F_SETFD, FD_CLOEXEC);
    fcntl(terminal_, F_SETFD, FD_CLOEXEC);
    fcntl(user_, F_SETFL, O_NONBLOCK);
  }

  void TearDown() override {
    process_.reset();
    close(user_);
    close(terminal_);
  }

  // tenure directly on the terminal, as the leader of its session.
  void run(const std::string& command, const std::vector<std::string>& program,
           const std::vector<std::string>& extra = {}) {
    process_ = bench_.start(command, "15s", program, extra, on_terminal());
  }

  // An interactive shell on the terminal, with job control.
  void shell() {
    process_ = std::make_unique<Process>(
        bench_.dir, std::vector<std::string>{"/bin/bash", "--norc", "--noprofile", "-i"},
        on_terminal());
    type("PS1='ready> '\n");
    ASSERT_TRUE(shows("\nready> "));
  }

  std::string line_for(const std::string& command, const std::vector<std::string>& program) const {
    std::string line =
        tenure_binary() + " " + command + " --name job --store " + bench_.store() + " --";
    for (const std::string& word : program) line += " " + word;
    return line + "\n";
  }

  SpawnOptions on_terminal() const {
    return {.in = terminal_, .out = terminal_, .err = terminal_, .session = true};
  }

  void type(const std::string& text) {
    ASSERT_EQ(write(user_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  bool shows(const std::string& text) {
    return eventually(
        [&] {
          std::array<char, 4096> buffer{};
          ssize_t got = 0;
          while ((got = read(user_, buffer.data(), buffer.size())) > 0) {
            screen_.append(buffer.data(), static_cast<std::size_t>(got));
          }
          return screen_.find(text) != std::string::npos;
        },
        kPatience);
  }

  // Whether the terminal belongs to the last command that began.
  bool command_has_terminal() const {
    return tcgetpgrp(user_) == std::atoi(bench_.last("group").c_str());
  }

  Bench bench_;
  int user_ = -1;
  int terminal_ = -1;
  std::string screen_;
  std::unique_ptr<Process> process_;
};

TEST_F(OnATerminal, TheCommandHasItFromItsFirstInstruction) {
  run("lock", bench_.worker());
  ASSERT_TRUE(bench_.wait_for("begin"));
  const std::string group = bench_.last("group");
  EXPECT_EQ(bench_.last("foreground"), group.substr(0, group.find(' ')));
  EXPECT_TRUE(command_has_terminal());
}

TEST_F(OnATerminal, InputReachesTheCommand) {
  run("lock", {"head", "-n", "1"});
  ASSERT_TRUE(shows("running"));
  type("hello\n");
  ASSERT_TRUE(shows("hello\r\nhello\r\n"));
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(OnATerminal, CtrlCEndsTheCommandAndThenTenure) {
  run("run", bench_.worker());
  ASSERT_TRUE(bench_.wait_for("begin"));
  type("\x03");
  EXPECT_EQ(process_->wait(), 128 + SIGINT);
  EXPECT_EQ(bench_.last("signal"), std::to_string(SIGINT));
  EXPECT_EQ(bench_.count("begin"), 1U) << "a command that made an end of it is not started again";
  EXPECT_FALSE(bench_.worker_lives());
}

// On one processor the command runs before the process that started it does again.
TEST_F(OnATerminal, CtrlCInTheCommandsFirstInstantIsSeen) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  for (std::size_t i = 1; i <= 40; ++i) {
    run("run", bench_.worker());
    ASSERT_TRUE(bench_.wait_for("begin", i));
    type("\x03");
    ASSERT_EQ(process_->wait(seconds(5)), 128 + SIGINT) << i;
  }
  sched_setaffinity(0, sizeof all, &all);
}

TEST_F(OnATerminal, CtrlCGivesLockTheCommandsOwnCode) {
  run("lock", bench_.worker());
  ASSERT_TRUE(bench_.wait_for("begin"));
  type("\x03");
  EXPECT_EQ(process_->wait(), 5);
}

TEST_F(OnATerminal, CtrlCThatTheCommandUsesItselfEndsNothing) {
  run("run", bench_.worker({"--keep-interrupt"}));
  ASSERT_TRUE(bench_.wait_for("begin"));
  type("\x03");
  ASSERT_TRUE(bench_.wait_for("signal " + std::to_string(SIGINT)));
  process_->send(SIGUSR2);
  ASSERT_TRUE(bench_.wait_for("signal " + std::to_string(SIGUSR2)));
  EXPECT_TRUE(process_->running());
}

TEST_F(OnATerminal, CtrlCEndsAWaitingCandidateWhichSaysThatItWaits) {
  const auto leader = bench_.start("run", "15s", bench_.worker(), {"--id", "boss"});
  ASSERT_TRUE(bench_.wait_for("begin"));
  run("lock", bench_.worker());
  ASSERT_TRUE(shows("waiting for "));
  EXPECT_TRUE(shows("'boss' leads"));
  type("\x03");
  EXPECT_EQ(process_->wait(), 128 + SIGINT);
}

TEST_F(OnATerminal, HangUpEndsEverything) {
  run("run", bench_.worker({"--ignore-term"}), {"--grace", "200ms"});
  ASSERT_TRUE(bench_.wait_for("begin"));
  ASSERT_TRUE(shows("running"));
  close(user_);
  user_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(process_->wait(), 128 + SIGHUP);
  EXPECT_FALSE(bench_.worker_lives());
}

TEST_F(OnATerminal, AShellSeesCtrlZStopTheJobAndFgContinuesIt) {
  shell();
  type(line_for("run", bench_.worker()));
  ASSERT_TRUE(bench_.wait_for("begin")) << screen_;
  EXPECT_TRUE(eventually([&] { return command_has_terminal(); }));
  type("\x1a");
  ASSERT_TRUE(shows("Stopped")) << screen_;
  screen_.clear();
  type("fg\n");
  ASSERT_TRUE(eventually([&] { return command_has_terminal(); }));
  ASSERT_TRUE(bench_.wait_for("signal " + std::to_string(SIGCONT)));
  type("\x03");
  ASSERT_TRUE(shows("ready> ")) << screen_;
  type("echo code $?\n");
  EXPECT_TRUE(shows("code 130")) << screen_;
  type("exit\n");
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(OnATerminal, InABackgroundJobTheTerminalStaysTheShells) {
  shell();
  std::string line = line_for("run", bench_.worker());
  line.insert(line.size() - 1, " &");
  type(line);
  ASSERT_TRUE(bench_.wait_for("begin"));
  type("echo still here\n");
  EXPECT_TRUE(shows("\r\nstill here\r\n"));
  type("kill %1; wait %1; echo code $?\n");
  EXPECT_TRUE(shows("code 143")) << screen_;
  type("exit\n");
  EXPECT_EQ(process_->wait(), 0);
}

// A job of which no shell knows any more can neither have the terminal nor be stopped: a command of
// it that reads is hung up, as the kernel does with such jobs, and does not ask over and over.
TEST_F(OnATerminal, InAnOrphanedJobACommandThatReadsIsHungUp) {
  shell();
  std::string line = line_for("lock", {"sh", "-c", "'read x </dev/tty; echo never'"});
  line.pop_back();
  const std::string code = bench_.dir / "code";
  // The inner shell's parent, which put it into the background, ends at once.
  type("((" + line + "; echo code $? >" + code + ") &)\n");
  EXPECT_TRUE(eventually([&] { return read_file(code) == "code 129\n"; })) << read_file(code);
  EXPECT_EQ(screen_.find("never"), std::string::npos);
  type("exit\n");
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(OnATerminal, APagerBehindItKeepsTheTerminalUntilTheCommandReads) {
  shell();
  // The output goes to a pipe: the command gets the terminal only when it reads from it.
  type(line_for("lock", {"sh", "-c", "'echo asks; read x; echo got $x'"})
           .insert(0, "set -o pipefail; "));
  ASSERT_TRUE(shows("asks"));
  type("this\n");
  EXPECT_TRUE(shows("got this")) << screen_;
  screen_.clear();
  std::string line = line_for("lock", {"sh", "-c", "'read x; echo got $x'"});
  line.insert(line.size() - 1, " | cat");
  type(line);
  type("that\n");
  EXPECT_TRUE(shows("got that")) << screen_;
  type("exit\n");
  EXPECT_EQ(process_->wait(), 0);
}

}  // namespace
}  // namespace tenure::test
