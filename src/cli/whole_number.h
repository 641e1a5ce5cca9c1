// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tenure::cli {

struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

/// Adds an option that takes a whole number in decimal; any other value is refused with what is
/// accepted. (CLI11 itself takes 010 for 8, and -1 or 2^64 for the largest number.)
void add_whole_number(CLI::App& app, const std::string& name, NumberRange range,
                      const std::string& help, std::function<void(std::uint64_t)> use);

}  // namespace tenure::cli
