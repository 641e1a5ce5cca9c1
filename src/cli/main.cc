// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/guardian.h"
#include "cli/guardian_protocol.h"
#include "cli/signals.h"
#include "cli/simulate_writers.h"

#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace tenure::cli {
namespace {

int dispatch(const Settings& settings) {
  switch (settings.command) {
    case kRun:
    case kLock:
      return run_command(settings);
    case kWatch:
      exit_at_signals();
      return watch_command(settings);
    default:
      break;
  }
  // These have nothing to end in order.
  give_back_signals(hangup_ignored());
  switch (settings.command) {
    case kStatus:
      return status_command(settings);
    case kDoctor:
      return doctor_command(settings);
    case kCompletion:
      return completion_command(settings);
    default:
      return version_command(settings);
  }
}

int finish(const Finished& finished) {
  give_back_signals(hangup_ignored());
  if (finished.code == kOk) {
    return write_all(STDOUT_FILENO, finished.text) ? kOk : kUnavailable;
  }
  Console console(Level::error, "");
  std::istringstream lines(finished.text);
  for (std::string line; std::getline(lines, line);) console.error(line);
  return finished.code;
}

int main_of_tenure(int argc, char** argv) {
  fill_standard_descriptors();
  take_over_signals();
  try {
    // Has words of its own, which depend on what is simulated.
    if (argc > 1 && std::string_view(argv[1]) == "simulate") {
      give_back_signals(hangup_ignored());
      const int code = simulate_command({argv + 2, argv + argc}, std::cout, std::cerr);
      return std::cout.flush() ? code : kUnavailable;
    }
    const auto parsed = parse_command_line(argc, argv);
    if (const auto* finished = std::get_if<Finished>(&parsed)) return finish(*finished);
    return dispatch(std::get<Settings>(parsed));
  } catch (const std::exception& error) {
    Console(Level::error, "").error(std::string("internal error: ") + error.what());
    return kUnavailable;
  }
}

}  // namespace
}  // namespace tenure::cli

int main(int argc, char** argv) {
  // First of all, before anything is set up that costs time or memory.
  if (argc > 1 && std::string_view(argv[1]) == tenure::cli::guardian::kVerb) {
    return tenure::cli::guardian::main_of_guardian(argc, argv);
  }
  const int code = tenure::cli::main_of_tenure(argc, argv);
  // Not exit(): threads may still be in a store that hangs, and nothing waits for being flushed.
  _exit(code);
}
