// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/runner.h"

#include <memory>

namespace tenure::cli {

int run_command(const Settings& settings) {
  Console console(settings.level, settings.election.name);
  auto runner = std::make_unique<Runner>(settings, console);
  const int code = runner->run();
  // Never destroyed: that would wait for threads, which may be in a store that hangs. The process
  // ends next.
  static_cast<void>(runner.release());
  return code;
}

}  // namespace tenure::cli
