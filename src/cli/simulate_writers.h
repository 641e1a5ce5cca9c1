// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace tenure::cli {

// `tenure simulate writers`: what the writer lease saves as replicas are added.
struct SimulateWritersOptions {
  std::size_t writers = 1000;
  std::size_t keys = 20;
  std::size_t rounds = 5;
  std::uint64_t seed = 1;
  std::string svg;  // where to write the picture, when it is complete; empty: nowhere
};

// What completion offers after `tenure simulate`.
inline constexpr std::string_view kSimulateWords = "writers --writers --keys --rounds --seed --svg";

// Adds the subcommand `writers` and its options, which are read into `options`.
CLI::App* add_simulate_writers(CLI::App& parent, SimulateWritersOptions& options);

// Runs it and prints the table as it grows. Returns the exit code.
int simulate_writers(const SimulateWritersOptions& options, std::ostream& out, std::ostream& err);

// All of `tenure simulate WORDS...`: reads the words, runs, and returns the exit code.
int simulate_command(std::vector<std::string> words, std::ostream& out, std::ostream& err);

}  // namespace tenure::cli
