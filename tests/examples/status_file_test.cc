// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ;

namespace tenure::test {
namespace {

// examples/status_file, started with its output into a file.
class Replica {
 public:
  Replica(const std::string& folder, std::string name)
      : name_(std::move(name)), output_(folder + "/" + name_ + ".out") {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_.c_str(), O_WRONLY | O_CREAT,
                                     0600);
    std::string program = STATUS_FILE;
    std::string file = folder + "/status";
    char* argv[] = {program.data(), file.data(), name_.data(), nullptr};
    if (posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv, environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
  }
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;
  ~Replica() { end(SIGKILL); }

  void end(int signal) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  [[nodiscard]] int count(const std::string& word) const {
    std::ifstream file(output_);
    int lines = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.find(word) != std::string::npos) ++lines;
    }
    return lines;
  }

 private:
  std::string name_;
  std::string output_;
  pid_t pid_ = -1;
};

TEST(StatusFileExample, OneOfThreeMostlyWritesAndAnotherTakesOverWhenItIsKilled) {
  const TempDir folder;
  std::vector<std::unique_ptr<Replica>> replicas;
  for (const char* name : {"a", "b", "c"}) {
    replicas.push_back(std::make_unique<Replica>(folder.path().string(), name));
  }
  const auto most = [&] {
    Replica* busiest = replicas.front().get();
    for (const auto& replica : replicas) {
      if (replica->count("wrote") > busiest->count("wrote")) busiest = replica.get();
    }
    return busiest;
  };
  ASSERT_TRUE(eventually([&] { return most()->count("wrote") >= 3; }, kPatience * 2));
  Replica* const writer = most();
  int others = 0;
  for (const auto& replica : replicas) {
    if (replica.get() != writer) others += replica->count("wrote");
  }
  EXPECT_LE(others, 2) << "mostly one of them writes";

  const auto written_by_others = [&] {
    int written = 0;
    for (const auto& replica : replicas) {
      if (replica.get() != writer) written += replica->count("wrote");
    }
    return written;
  };
  writer->end(SIGKILL);
  const Stopwatch watch;
  const int before = written_by_others();
  EXPECT_TRUE(eventually([&] { return written_by_others() > before; }, kPatience * 2));
  // The lease, the 2 s in which nothing new is to be written, and a slow machine.
  EXPECT_LT(watch.elapsed(), std::chrono::seconds(5 + 2 + 2)) << "another takes over in time";
  EXPECT_TRUE(eventually([&] { return written_by_others() >= before + 2; }, kPatience * 2));
}

}  // namespace
}  // namespace tenure::test
