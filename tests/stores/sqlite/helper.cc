// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/helper.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>

extern char** environ;

namespace tenure::test {
namespace {

constexpr int kPatienceMs = 20'000;

void make_pipe(int& read_end, int& write_end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  read_end = ends[0];
  write_end = ends[1];
}

}  // namespace

Helper::Helper(const std::string& verb, const std::string& path,
               std::vector<std::string> wrapped_in) {
  int their_in = -1;
  int their_out = -1;
  make_pipe(their_in, in_);
  make_pipe(out_, their_out);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, their_in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, their_out, STDOUT_FILENO);
  std::vector<std::string> words = std::move(wrapped_in);
  words.insert(words.end(), {TENURE_SQLITE_HELPER, verb, path});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
    std::abort();
  }
  posix_spawn_file_actions_destroy(&actions);
  ::close(their_in);
  ::close(their_out);
}

Helper::~Helper() {
  kill();
  ::waitpid(pid_, nullptr, 0);
  ::close(in_);
  ::close(out_);
}

std::string Helper::line() {
  std::string line;
  while (true) {
    pollfd ready{out_, POLLIN, 0};
    char byte = 0;
    if (::poll(&ready, 1, kPatienceMs) != 1 || ::read(out_, &byte, 1) != 1) return {};
    if (byte == '\n') return line;
    line += byte;
  }
}

void Helper::go() {
  const char byte = '\n';
  if (::write(in_, &byte, 1) != 1) std::abort();
}

void Helper::kill() const { ::kill(pid_, SIGKILL); }

}  // namespace tenure::test
