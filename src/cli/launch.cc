// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/launch.h"

#include "cli/signals.h"

#include <cerrno>
#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

// Between vfork and exec: system calls only, in memory shared with the parent.
[[noreturn]] void become(char* const* argv, int terminal, bool hangup_ignored, pid_t parent,
                         volatile int& error) noexcept {
  setpgid(0, 0);
  if (terminal >= 0) tcsetpgrp(terminal, getpid());
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have gone before the line above took effect.
  if (getppid() != parent) _exit(0);
  give_back_signals(hangup_ignored);
  execvp(argv[0], argv);
  error = errno;
  _exit(127);
}

}  // namespace

Launched launch(char* const* argv, int terminal, bool hangup_ignored) noexcept {
  volatile int error = 0;
  const pid_t parent = getpid();
  // Not posix_spawn: it cannot ask for the signal at the parent's death. The parent stands still
  // until the exec, so that `error` is settled and the group exists when vfork returns here.
  const pid_t pid = vfork();
  if (pid < 0) return {-1, errno};
  if (pid == 0) become(argv, terminal, hangup_ignored, parent, error);
  if (error == 0) return {pid, 0};
  waitpid(pid, nullptr, 0);
  return {-1, error};
}

}  // namespace tenure::cli
