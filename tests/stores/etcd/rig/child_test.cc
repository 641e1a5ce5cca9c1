// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/child.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/support/temp_dir.h"

namespace tenure::test {
namespace {

std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }

bool is_gone(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  return stat.empty() || stat.find(") Z") != std::string::npos;
}

TEST(RigChild, ItsLinesCanBeWaitedFor) {
  const TempDir dir;
  Child child(shell("echo one; echo two $WORD; echo three >&2; printf half"),
              {.log = dir / "log", .env = {"WORD=words"}});
  EXPECT_EQ(child.wait_line([](auto line) { return line.starts_with("two"); }), "two words");
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(child.lines(), (std::vector<std::string>{"one", "two words"}));
  EXPECT_EQ(child.out(), "one\ntwo words\nhalf");
  EXPECT_EQ(child.err(), "three\n");
  EXPECT_EQ(child.wait_line([](auto line) { return line == "half"; }, Duration::zero()),
            std::nullopt);
}

TEST(RigChild, SaysHowItEnded) {
  const TempDir dir;
  Child with_code(shell("exit 7"), {.log = dir / "a"});
  EXPECT_EQ(with_code.wait(), 7);
  Child killed({"/bin/cat", "/dev/zero"}, {.log = "/dev/null"});
  EXPECT_TRUE(killed.running());
  killed.kill();
  EXPECT_EQ(killed.wait(), 1000 + SIGKILL);
  Child missing({"/nonexistent"}, {.log = dir / "c"});
  EXPECT_EQ(missing.wait(), 99);
}

TEST(RigChild, InheritsOnlyTheDescriptorThatItIsGiven) {
  const TempDir dir;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // not close-on-exec
  Child child(shell("ls -l /proc/self/fd; read -r word <&3; echo said $word"),
              {.log = dir / "log", .held = ends[0]});
  ASSERT_EQ(::write(ends[1], "hello\n", 6), 6);
  EXPECT_TRUE(child.wait_line([](auto line) { return line == "said hello"; }));
  EXPECT_EQ(child.wait(), 0);
  std::size_t pipes = 0;
  for (const std::string& line : child.lines()) {
    pipes += line.find("pipe:") != std::string::npos;
  }
  EXPECT_EQ(pipes, 1);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(RigChild, OutlivesTheThreadThatStartedIt) {
  const TempDir dir;
  std::unique_ptr<Child> child;
  std::thread([&] {
    child = std::make_unique<Child>(shell("echo up; read -r word"), Child::Options{
                                                                        .log = dir / "log",
                                                                    });
    ASSERT_TRUE(child->wait_line([](auto line) { return line == "up"; }));
  }).join();
  // Had the thread's end killed it, that would be its end.
  EXPECT_EQ(child->wait(), 1) << "the end of its standard input";
}

TEST(RigChild, DiesWithTheTestProgramEvenIfThatCrashes) {
  const TempDir dir;
  const pid_t program = ::fork();
  if (program == 0) {
    const Child child(shell("echo $$; exec tail -f /dev/null"), {.log = dir / "log"});
    if (!child.wait_line([](auto) { return true; })) ::_exit(1);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(program, &status, 0), program);
  ASSERT_TRUE(WIFSIGNALED(status));
  const pid_t child = std::stoi(read_file(dir / "log.out"));
  EXPECT_TRUE(eventually([&] { return is_gone(child); }));
}

}  // namespace
}  // namespace tenure::test
