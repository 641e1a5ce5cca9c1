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

namespace tenure::cli {
namespace {

// Between vfork and exec: system calls only, in memory that may be the parent's.
[[noreturn]] void become(char* const* argv, int terminal, bool hangup_ignored, pid_t parent,
                         int failure) noexcept {
  setpgid(0, 0);
  if (terminal >= 0) tcsetpgrp(terminal, getpid());
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have gone before the line above took effect.
  if (getppid() != parent) _exit(0);
  give_back_signals(hangup_ignored);
  execvp(argv[0], argv);
  const int error = errno;
  // A pipe that is new and empty takes it.
  static_cast<void>(!write(failure, &error, sizeof error));
  _exit(127);
}

}  // namespace

Launched launch(char* const* argv, int terminal, bool hangup_ignored) noexcept {
  std::array<int, 2> failure{};  // closed by a successful exec
  if (pipe2(failure.data(), O_CLOEXEC) != 0) return {-1, errno};
  const pid_t parent = getpid();
  // Not posix_spawn: it cannot ask for the signal at the parent's death. The parent stands still
  // until the exec, so that the group exists when vfork returns here.
  const pid_t pid = vfork();
  if (pid == 0) become(argv, terminal, hangup_ignored, parent, failure[1]);
  int error = pid < 0 ? errno : 0;
  close(failure[1]);
  if (pid > 0 && read(failure[0], &error, sizeof error) > 0) waitpid(pid, nullptr, 0);
  close(failure[0]);
  if (error != 0) return {-1, error};
  return {pid, 0};
}

}  // namespace tenure::cli
