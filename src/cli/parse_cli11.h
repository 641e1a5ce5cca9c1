// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/option_table.h"
#include "cli/options.h"

namespace tenure::cli {

// What stood on the command line, as text: nothing is judged yet.
struct RawOptions {
  CommandBit command = kVersion;
  std::array<std::optional<std::string>, kOptions.size()> given;  // a flag: ""
  std::optional<std::string> positional;
};

// Reads the words before "--" by the option tables.
[[nodiscard]] std::variant<RawOptions, Finished> read_words(std::vector<std::string> words);

}  // namespace tenure::cli
