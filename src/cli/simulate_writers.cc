// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_writers.h"

#include "cli/exit_code.h"
#include "cli/replacement.h"
#include "cli/whole_number.h"
#include "writers/experiment.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <utility>

namespace tenure::cli {
namespace {

constexpr std::size_t kMostWriters = 10'000;
constexpr std::size_t kMostKeys = 10'000;
constexpr std::size_t kMostRounds = 1000;

void add_number(CLI::App& app, const std::string& name, std::size_t& value, std::size_t most,
                const std::string& help) {
  add_whole_number(app, name, {1, most}, help, [&value](std::uint64_t read) { value = read; });
}

}  // namespace

CLI::App* add_simulate_writers(CLI::App& parent, SimulateWritersOptions& options) {
  CLI::App* const sub = parent.add_subcommand(
      "writers", "How many writes replicas with a writer lease make, as replicas are added");
  add_number(*sub, "--writers", options.writers, kMostWriters, "The most writers (default 1000)");
  add_number(*sub, "--keys", options.keys, kMostKeys,
             "Objects that all of them write (default 20)");
  add_number(*sub, "--rounds", options.rounds, kMostRounds, "Changes of every object (default 5)");
  add_whole_number(*sub, "--seed", {0, std::numeric_limits<std::uint64_t>::max()},
                   "The same seed gives the same table (default 1)",
                   [&options](std::uint64_t read) { options.seed = read; });
  sub->add_option("--svg", options.svg, "Draw it into this file")->type_name("FILE");
  sub->footer("Example: tenure simulate writers --writers 100 --svg writers.svg");
  return sub;
}

int simulate_writers(const SimulateWritersOptions& options, std::ostream& out, std::ostream& err) {
  const sim::ExperimentOptions experiment{.most_writers = options.writers,
                                          .keys = options.keys,
                                          .rounds = options.rounds,
                                          .seed = options.seed};
  const auto cannot_write = [&](const std::error_code& error, int code) {
    err << "tenure: --svg: cannot write " << options.svg << ": " << error.message() << "\n";
    return code;
  };
  std::optional<Replacement> file;
  if (!options.svg.empty()) file.emplace(options.svg);
  // Tried first: nobody wants to hear after the long run that it cannot be written.
  if (file) {
    if (const auto error = file->prepare()) return cannot_write(error, kUsage);
  }
  out << sim::table_head() << std::flush;
  const auto rows = sim::run_experiment(experiment, [&](const sim::ExperimentRow& row) {
    out << sim::table_line(row) << std::flush;
  });
  out << sim::table_legend() << std::flush;
  if (file) {
    const auto error = file->write(sim::picture(experiment, rows));
    if (error) return cannot_write(error, kUnavailable);
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
