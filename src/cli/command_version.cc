// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/version.h>

#include "cli/commands.h"
#include "cli/exit_code.h"

#include <unistd.h>

namespace tenure::cli {

int version_command(const Settings&) {
  const bool written = write_all(STDOUT_FILENO, "tenure " + std::string(tenure::version()) + "\n");
  return written ? kOk : kUnavailable;
}

}  // namespace tenure::cli
