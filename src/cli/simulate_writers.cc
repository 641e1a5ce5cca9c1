// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_writers.h"

#include "cli/exit_code.h"
#include "writers/experiment.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <fstream>
#include <ostream>
#include <utility>

namespace tenure::cli {
namespace {

constexpr std::size_t kMostWriters = 10'000;
constexpr std::size_t kMostKeys = 10'000;
constexpr std::size_t kMostRounds = 1000;

// What is wrong with it; CLI11 itself takes -1 for a very large number.
std::string whole_number(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::string() : "is " + text + ", must be a whole number, 0 or more";
}

}  // namespace

CLI::App* add_simulate_writers(CLI::App& parent, SimulateWritersOptions& options) {
  CLI::App* const sub = parent.add_subcommand(
      "writers", "How many writes replicas with a writer lease make, as replicas are added");
  sub->add_option("--writers", options.writers, "The most writers (default 1000)")
      ->check(CLI::Range(std::size_t{1}, kMostWriters));
  sub->add_option("--keys", options.keys, "Objects that all of them write (default 20)")
      ->check(CLI::Range(std::size_t{1}, kMostKeys));
  sub->add_option("--rounds", options.rounds, "Changes of every object (default 5)")
      ->check(CLI::Range(std::size_t{1}, kMostRounds));
  sub->add_option("--seed", options.seed, "The same seed gives the same table (default 1)")
      ->check(whole_number);
  sub->add_option("--svg", options.svg, "Draw it into this file")->type_name("FILE");
  sub->footer("Example: tenure simulate writers --writers 100 --svg writers.svg");
  return sub;
}

int simulate_writers(const SimulateWritersOptions& options, std::ostream& out, std::ostream& err) {
  const sim::ExperimentOptions experiment{.most_writers = options.writers,
                                          .keys = options.keys,
                                          .rounds = options.rounds,
                                          .seed = options.seed};
  // Opened first: nobody wants to hear after the long run that it cannot be written.
  std::ofstream file;
  if (!options.svg.empty()) {
    file.open(options.svg);
    if (!file) {
      err << "tenure: --svg: cannot write " << options.svg << "\n";
      return kUsage;
    }
  }
  out << sim::table_head() << std::flush;
  const auto rows = sim::run_experiment(experiment, [&](const sim::ExperimentRow& row) {
    out << sim::table_line(row) << std::flush;
  });
  out << sim::table_legend() << std::flush;
  if (file.is_open()) {
    file << sim::picture(experiment, rows);
    file.close();
    if (!file) {
      err << "tenure: --svg: cannot write " << options.svg << "\n";
      return kUnavailable;
    }
  }
  return out ? kOk : kUnavailable;
}

int simulate_command(std::vector<std::string> words, std::ostream& out, std::ostream& err) {
  CLI::App app("Runs the real machines in virtual time, and draws what happens", "tenure simulate");
  app.require_subcommand(1);
  SimulateWritersOptions options;
  add_simulate_writers(app, options);
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    out << app.help("", CLI::AppFormatMode::Normal);
    return kOk;
  } catch (const CLI::ParseError& error) {
    err << "tenure: " << error.what() << "\nTry: tenure simulate writers --help\n";
    return kUsage;
  }
  return simulate_writers(options, out, err);
}

}  // namespace tenure::cli
