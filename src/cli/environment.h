// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/options.h>

#include <string>
#include <sys/types.h>
#include <vector>

namespace tenure::cli {

// This process's environment for the command: ours in place of what was inherited (TENURE_NAME and
// TENURE_ID; the guardian adds TENURE_TOKEN and TENURE_TTL_MS), and without the service manager's
// channel, on which the command would speak in tenure's name.
[[nodiscard]] std::vector<std::string> environment_for(const ElectionOptions& election);

// Puts /dev/null where standard input, output or error is closed, so that no file of ours gets
// such a number and is then written to as if it were the terminal.
void fill_standard_descriptors() noexcept;

// Collects one child, whatever it ended with.
void waitpid_quietly(pid_t pid) noexcept;

}  // namespace tenure::cli
