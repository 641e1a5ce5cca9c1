// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The guardian alone, without store or election: this program is its own guardian, as the command
// is in real life.
#include "cli/guardian.h"

#include <tenure/clock.h>

#include "cli/descendants.h"
#include "cli/environment.h"
#include "cli/guardian_link.h"
#include "cli/signals.h"
#include "tests/cli/harness.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

using guardian::Message;
using guardian::Verb;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Bench;
using test::eventually;

class Guardian : public testing::Test {
 protected:
  void SetUp() override {
    take_over_signals();  // as tenure does; the guardian inherits the mask
    become_subreaper();
  }

  void TearDown() override {
    link_.reset();
    EXPECT_TRUE(eventually([] { return waitpid(-1, nullptr, WNOHANG) < 0; }))
        << "the guardian or something it should have killed lives on";
  }

  void spawn(std::vector<std::string> command) {
    auto link = GuardianLink::spawn(command, environment_for({.name = "job", .id = "me"}));
    ASSERT_TRUE(link) << link.error().message;
    link_ = *std::move(link);
  }

  void start(Duration ttl, Duration grace = milliseconds(200), Duration margin = milliseconds(50)) {
    Message message;
    message.verb = Verb::start;
    message.token = 7;
    deadline_ = system_clock().now() + ttl;
    message.deadline = deadline_.time_since_epoch().count();
    message.grace = grace.count();
    message.margin = margin.count();
    message.ttl_ms = 1234;
    ASSERT_TRUE(link_->send(message));
  }

  // What it says next, but for its answers to what it was told.
  std::optional<Message> next() {
    std::optional<Message> message;
    do {
      message = next_of_all();
    } while (message && (message->verb == Verb::starting || message->verb == Verb::known));
    return message;
  }

  std::optional<Message> next_of_all() {
    bool closed = false;
    std::optional<Message> message;
    (void)eventually([&] { return (message = link_->receive(closed)) || closed; }, test::kPatience,
                     link_->fd());
    return message;
  }

  Message expect(Verb verb) {
    const auto message = next();
    EXPECT_TRUE(message.has_value());
    const Message got = message.value_or(Message{});
    EXPECT_EQ(static_cast<int>(got.verb), static_cast<int>(verb));
    return got;
  }

  Bench bench_;
  std::unique_ptr<GuardianLink> link_;
  Instant deadline_{};
};

TEST_F(Guardian, ReportsHowTheCommandEndedAndThatNothingIsLeft) {
  spawn(bench_.worker({"--exit", "3"}));
  start(hours(1));
  expect(Verb::started);
  const Message ended = expect(Verb::ended);
  EXPECT_EQ(WEXITSTATUS(ended.number), 3);
  EXPECT_FALSE(ended.asked);
  expect(Verb::gone);
  EXPECT_EQ(bench_.last("end"), "7");
}

TEST_F(Guardian, SaysWhyACommandCannotBeRun) {
  spawn({bench_.dir / "missing"});
  start(hours(1));
  EXPECT_EQ(expect(Verb::failed).number, ENOENT);
  link_.reset();
  spawn({bench_.dir.path().string()});
  start(hours(1));
  EXPECT_EQ(expect(Verb::failed).number, EACCES);
  link_.reset();
  // Not for /bin/sh to guess at, as execvp() would let it.
  const std::string plain = bench_.dir.write("plain", "echo would run\n");
  std::filesystem::permissions(plain, std::filesystem::perms::owner_all);
  spawn({plain});
  start(hours(1));
  EXPECT_EQ(expect(Verb::failed).number, ENOEXEC);
}

TEST_F(Guardian, DoesNotStartACommandThatWouldHaveToDieAtOnce) {
  spawn(bench_.worker());
  start(milliseconds(10), milliseconds(5), milliseconds(20));
  expect(Verb::late);
  EXPECT_FALSE(eventually([&] { return bench_.count("begin") > 0; }, milliseconds(50)));
}

TEST_F(Guardian, EndsWithoutACommandWhenTenureGoes) {
  spawn(bench_.worker());
  const pid_t pid = link_->pid();
  link_.reset();
  EXPECT_TRUE(eventually([&] { return waitpid(pid, nullptr, WNOHANG) == pid; }));
}

TEST_F(Guardian, AsksAGraceBeforeTheDeadline) {
  spawn(bench_.worker());
  start(milliseconds(2000), milliseconds(500));
  expect(Verb::started);
  ASSERT_TRUE(bench_.wait_for("begin"));
  EXPECT_TRUE(expect(Verb::ended).asked);
  expect(Verb::gone);
  EXPECT_LT(system_clock().now(), deadline_);
  EXPECT_EQ(bench_.count("end"), 1U);
}

TEST_F(Guardian, CL03_EverythingIsDeadAtTheDeadlineWhateverItIgnores) {
  spawn(bench_.worker({"--ignore-term", "--daemon"}));
  start(milliseconds(2000), milliseconds(500), milliseconds(200));
  expect(Verb::started);
  ASSERT_TRUE(bench_.wait_for("begin"));
  EXPECT_EQ(WTERMSIG(expect(Verb::ended).number), SIGKILL);
  expect(Verb::gone);
  EXPECT_LT(system_clock().now(), deadline_);
  EXPECT_FALSE(bench_.worker_lives());
}

TEST_F(Guardian, SaysBeforeItStartsTheCommandOnWhichDeadlineItActs) {
  spawn(bench_.worker({"--exit", "0"}));
  start(hours(1));
  const auto answer = next_of_all().value_or(Message{});
  EXPECT_EQ(static_cast<int>(answer.verb), static_cast<int>(Verb::starting));
  EXPECT_EQ(answer.deadline, deadline_.time_since_epoch().count());
  expect(Verb::started);
  expect(Verb::ended);
  expect(Verb::gone);
}

TEST_F(Guardian, KeepsTheCommandWhileTheDeadlineMovesAndAnswersEachTime) {
  spawn(bench_.worker());
  start(seconds(2), milliseconds(300));
  expect(Verb::started);
  const Instant first = deadline_;
  for (Instant now = system_clock().now(); now < first; now = system_clock().now()) {
    Message message;
    message.verb = Verb::deadline;
    deadline_ = now + seconds(2);
    message.deadline = deadline_.time_since_epoch().count();
    ASSERT_TRUE(link_->send(message));
    const auto answer = next_of_all().value_or(Message{});
    ASSERT_EQ(static_cast<int>(answer.verb), static_cast<int>(Verb::known));
    ASSERT_EQ(answer.deadline, message.deadline);
  }
  EXPECT_EQ(bench_.count("signal"), 0U) << "asked to stop although the term was renewed";
  EXPECT_TRUE(expect(Verb::ended).asked);
  expect(Verb::gone);
}

TEST_F(Guardian, NeverMovesTheDeadlineBack) {
  spawn(bench_.worker());
  start(hours(1));
  expect(Verb::started);
  ASSERT_TRUE(bench_.wait_for("begin"));
  Message message;
  message.verb = Verb::deadline;
  message.deadline = 1;
  ASSERT_TRUE(link_->send(message));
  ASSERT_TRUE(link_->send(Verb::signal, SIGUSR2));
  ASSERT_TRUE(bench_.wait_for("signal " + std::to_string(SIGUSR2)));
  EXPECT_EQ(bench_.count("end"), 0U);
  link_->send(Verb::kill);
  expect(Verb::ended);
  expect(Verb::gone);
}

TEST_F(Guardian, StopAsksFirstAndKillsAfterTheWholeGrace) {
  spawn(bench_.worker({"--ignore-term"}));
  start(hours(1), milliseconds(300), milliseconds(100));
  expect(Verb::started);
  ASSERT_TRUE(bench_.wait_for("begin"));
  const Instant asked = system_clock().now();
  ASSERT_TRUE(link_->send(Verb::stop));
  const Message ended = expect(Verb::ended);
  EXPECT_EQ(WTERMSIG(ended.number), SIGKILL);
  EXPECT_TRUE(ended.asked);
  expect(Verb::gone);
  EXPECT_GE(system_clock().now() - asked, milliseconds(300));
  EXPECT_EQ(bench_.count("signal 15"), 1U);
}

TEST_F(Guardian, WhatACommandLeavesBehindEndsWithIt) {
  spawn(bench_.worker({"--leave-daemon", "--exit", "4"}));
  start(hours(1), milliseconds(100), milliseconds(20));
  expect(Verb::started);
  const Message ended = expect(Verb::ended);
  EXPECT_EQ(WEXITSTATUS(ended.number), 4);
  EXPECT_FALSE(ended.asked) << "the command itself ended by itself";
  expect(Verb::gone);
  EXPECT_FALSE(bench_.worker_lives());
}

TEST_F(Guardian, CL07_TheEndOfTenureKillsEverythingAtOnce) {
  spawn(bench_.worker({"--ignore-term", "--daemon"}));
  start(hours(2), hours(1));
  expect(Verb::started);
  ASSERT_TRUE(bench_.wait_for("begin"));
  const pid_t guardian = link_->pid();
  link_.reset();
  EXPECT_TRUE(eventually([&] { return waitpid(guardian, nullptr, WNOHANG) == guardian; }));
  EXPECT_FALSE(bench_.worker_lives());
  EXPECT_EQ(bench_.count("signal"), 0U);
}

TEST_F(Guardian, ItsOwnDeathKillsTheCommandAndLeavesTheRestToItsParent) {
  spawn(bench_.worker({"--ignore-term", "--daemon"}));
  start(hours(1));
  expect(Verb::started);
  ASSERT_TRUE(bench_.wait_for("begin"));
  const pid_t command = std::atoi(bench_.last("group").c_str());
  link_->kill();
  EXPECT_TRUE(eventually([&] { return !test::alive(command); }));
  EXPECT_TRUE(eventually([&] {
    signal_children(SIGKILL);
    return waitpid(-1, nullptr, WNOHANG) < 0;
  }));
  EXPECT_FALSE(bench_.worker_lives());
}

TEST_F(Guardian, SignalsOfPeopleAndTerminalsDoNotEndIt) {
  spawn(bench_.worker());
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM}) {
    kill(link_->pid(), signal);
  }
  start(hours(1));
  expect(Verb::started);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP}) {
    kill(link_->pid(), signal);
  }
  ASSERT_TRUE(bench_.wait_for("begin"));
  link_->send(Verb::stop);
  EXPECT_EQ(expect(Verb::ended).number, 0);
  expect(Verb::gone);
}

TEST_F(Guardian, AStoppedCommandIsWokenToBeAsked) {
  spawn(bench_.worker());
  start(hours(1), milliseconds(10'000), milliseconds(10));
  expect(Verb::started);
  ASSERT_TRUE(bench_.wait_for("begin"));
  const pid_t command = std::atoi(bench_.last("group").c_str());
  kill(command, SIGSTOP);
  link_->send(Verb::stop);
  EXPECT_EQ(expect(Verb::ended).number, 0);
  expect(Verb::gone);
}

}  // namespace
}  // namespace tenure::cli

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == tenure::cli::guardian::kVerb) {
    return tenure::cli::guardian::main_of_guardian(argc, argv);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
