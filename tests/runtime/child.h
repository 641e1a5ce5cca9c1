// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace tenure::test {

/// Runs `body` in a forked child and returns what it returned (0 to 255), or 1000 plus the signal
/// that ended the child.
template <class Body>
[[nodiscard]] int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace tenure::test
