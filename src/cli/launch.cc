// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"

#include "cli/signals.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace tenure::cli {
namespace {

// What the parent and the child of a launch share.
struct Pipes {
  std::array<int, 2> failure{-1, -1};  // errno of a failed exec; a successful one closes it
  std::array<int, 2> gate{-1, -1};     // closed by the parent when the child may go on

  ~Pipes() {
    for (const int fd : {failure[0], failure[1], gate[0], gate[1]}) {
      if (fd >= 0) close(fd);
    }
  }
};

void shut(int& fd) noexcept { close(std::exchange(fd, -1)); }

// Between vfork and exec: system calls only, in memory that may be the parent's.
[[noreturn]] void become(const char* path, char* const* argv, int terminal, bool hangup_ignored,
                         pid_t parent, const Pipes& pipes) noexcept {
  setpgid(0, 0);
  if (terminal >= 0) {
    tcsetpgrp(terminal, getpid());
    close(pipes.gate[1]);
    char end = 0;
    static_cast<void>(!read(pipes.gate[0], &end, 1));  // its end is what is waited for
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have gone before the line above took effect.
  if (getppid() != parent) _exit(0);
  give_back_signals(hangup_ignored);
  execve(path, argv, environ);
  const int error = errno;
  // A pipe that is new and empty takes it.
  static_cast<void>(!write(pipes.failure[1], &error, sizeof error));
  _exit(127);
}

}  // namespace

Launched launch(const char* path, char* const* argv, int terminal, bool hangup_ignored,
                const std::function<void(pid_t)>& before_exec) {
  Pipes pipes;
  if (pipe2(pipes.failure.data(), O_CLOEXEC) != 0) return {-1, errno};
  if (terminal >= 0 && pipe2(pipes.gate.data(), O_CLOEXEC) != 0) return {-1, errno};
  const pid_t parent = getpid();
  // Not posix_spawn: it cannot ask for the signal at the parent's death. vfork is faster, but its
  // parent stands still until the exec.
  const pid_t pid = terminal >= 0 ? fork() : vfork();
  if (pid == 0) become(path, argv, terminal, hangup_ignored, parent, pipes);
  if (pid < 0) return {-1, errno};
  if (terminal >= 0) {
    setpgid(pid, pid);  // whoever of the two is first
    before_exec(pid);
    shut(pipes.gate[1]);
  }
  shut(pipes.failure[1]);
  int error = 0;
  if (read(pipes.failure[0], &error, sizeof error) <= 0) return {pid, 0};
  waitpid(pid, nullptr, 0);
  return {-1, error};
}

}  // namespace tenure::cli
