// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/options.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/console.h"
#include "cli/option_table.h"

namespace tenure::cli {

// A command line that has been understood and checked.
struct Settings {
  CommandBit command = kVersion;
  ElectionOptions election;         // name, id and timing; checked by validate()
  Timing timing;                    // what validate() made of it
  std::string store;                // empty: the default store
  std::optional<std::string> name;  // watch, status: only this election
  std::optional<Duration> timeout;
  bool once = false;
  bool json = false;
  Level level = Level::info;
  std::string shell;                 // completion
  std::vector<std::string> program;  // what follows --
};

// The command ends here: --help, or something is wrong with the command line.
struct Finished {
  int code = 0;
  std::string text;  // to standard output if the code is 0, else to standard error
};

// Reads the command line and the environment variables that stand in for options.
[[nodiscard]] std::variant<Settings, Finished> parse_command_line(int argc, char** argv);

}  // namespace tenure::cli
