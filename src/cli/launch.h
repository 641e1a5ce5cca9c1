// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <sys/types.h>

namespace tenure::cli {

struct Launched {
  pid_t pid = -1;  // also its process group
  int error = 0;   // errno of what failed; then nothing runs
};

// Runs the file `path` (itself: never by a shell, as execvp() would a file of no known format) in a
// process group of its own, with default signals, to be killed by the kernel if the calling thread
// ends. With `terminal` >= 0 the group becomes that terminal's foreground group before the
// command's first instruction, and before that `before_exec` is told the group. Must be called with
// all signals blocked, from a process with one thread.
[[nodiscard]] Launched launch(const char* path, char* const* argv, int terminal,
                              bool hangup_ignored, const std::function<void(pid_t)>& before_exec);

}  // namespace tenure::cli
