// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writers/experiment.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tenure::sim {
namespace {

// Who fights without a guard writes for ever; a few are enough to show it.
constexpr std::size_t kMostUnguarded = 30;

double accepted_per_key(const WritersOptions& options) {
  const WritersReport report = simulate(options);
  return static_cast<double>(report.settling.writes - report.settling.conflicts) /
         static_cast<double>(options.keys);
}

ExperimentRow run_row(const ExperimentOptions& options, std::size_t writers) {
  WritersOptions agreeing{
      .writers = writers, .keys = options.keys, .rounds = options.rounds, .seed = options.seed};
  const WritersReport report = simulate(agreeing);
  ExperimentRow row;
  row.writers = writers;
  row.settling = report.settling;
  row.agreed = report.all_as_wanted && report.leaders == 1;
  for (const WritersRound& round : report.settled) {
    row.settled_writes += static_cast<double>(round.writes);
    row.settled_conflicts += static_cast<double>(round.conflicts);
    row.settled_converged = std::max(row.settled_converged, round.converged);
  }
  const auto all = static_cast<double>(options.keys * std::max<std::size_t>(options.rounds, 1));
  row.settled_writes /= all;
  row.settled_conflicts /= all;

  WritersOptions fighting = agreeing;
  fighting.opinions = writers;
  fighting.rounds = 0;
  fighting.retry_interval = std::chrono::minutes(1);
  fighting.round = kShortFight;
  row.fight_short = accepted_per_key(fighting);
  if (writers <= kMostUnguarded) {
    fighting.guarded = false;
    row.unguarded_short = accepted_per_key(fighting);
    fighting.guarded = true;
  }
  fighting.round = kLongFight;
  row.fight_long = accepted_per_key(fighting);
  return row;
}

double in_ms(Duration span) { return std::chrono::duration<double, std::milli>(span).count(); }

}  // namespace

std::vector<ExperimentRow> run_experiment(
    const ExperimentOptions& options, const std::function<void(const ExperimentRow&)>& progress) {
  std::vector<std::size_t> sizes{1, 2, 3};
  for (std::size_t size = 10; size <= options.most_writers; size *= 10) {
    sizes.push_back(size);
    sizes.push_back(size * 3);
  }
  sizes.push_back(options.most_writers);
  std::erase_if(sizes, [&](std::size_t size) { return size > options.most_writers; });
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<ExperimentRow> rows;
  for (const std::size_t size : sizes) {
    rows.push_back(run_row(options, size));
    progress(rows.back());
  }
  return rows;
}

std::string table_head() {
  return "          | agreeing: start              | each change, for each key      | disagreeing: "
         "writes for each key\n"
         "  writers |  writes  conflicts    within | writes  conflicts    within    |  10 min     "
         "8 h   unguarded, 10 min\n"
         "  --------+------------------------------+--------------------------------+--------------"
         "---------------------\n";
}

std::string table_line(const ExperimentRow& row) {
  std::array<char, 200> line{};
  std::array<char, 32> unguarded{};
  std::snprintf(unguarded.data(), unguarded.size(), "%8.0f", row.unguarded_short);
  std::snprintf(line.data(), line.size(),
                "  %7zu | %7llu  %9llu %6.0f ms | %6.3f  %9.3f %6.0f ms %s | %6.1f  %6.1f   %s\n",
                row.writers, static_cast<unsigned long long>(row.settling.writes),
                static_cast<unsigned long long>(row.settling.conflicts),
                in_ms(row.settling.converged), row.settled_writes, row.settled_conflicts,
                in_ms(row.settled_converged), row.agreed ? " " : "!", row.fight_short,
                row.fight_long, row.unguarded_short > 0 ? unguarded.data() : "       -");
  return line.data();
}

}  // namespace tenure::sim
