// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <vector>

namespace tenure::cli {

// Makes orphans among this process's descendants its own children, however they daemonised.
bool become_subreaper() noexcept;

// Whether there is any child at all: the kernel's own word, and cheap.
bool has_children() noexcept;

// The processes whose parent this process is now (zombies included).
[[nodiscard]] std::vector<pid_t> children_of_this_process();

// Sends `signal` to every child but those in `spared`; returns how many were sent it. Killed
// children leave their own children to this process (a subreaper), so that repeating this until
// there are none reaches every descendant.
std::size_t signal_children(int signal, const std::vector<pid_t>& spared = {});

}  // namespace tenure::cli
