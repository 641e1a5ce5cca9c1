// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writers/experiment.h"

#include "writers/text.h"

#include <algorithm>

namespace tenure::sim {
namespace {

// Who fights without a guard writes for ever; a few are enough to show it.
constexpr std::size_t kMostUnguarded = 30;

FightCost fight(const WritersOptions& options) {
  const WritersRound all = simulate(options).settling;
  const auto keys = static_cast<double>(options.keys);
  return {static_cast<double>(all.writes - all.conflicts) / keys,
          static_cast<double>(all.writes) / keys};
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
  row.fight_short = fight(fighting);
  if (writers <= kMostUnguarded) {
    fighting.guarded = false;
    row.unguarded_short = fight(fighting).accepted;
    fighting.guarded = true;
  }
  fighting.round = kLongFight;
  row.fight_long = fight(fighting);
  return row;
}

std::string in_ms(Duration span) {
  if (span == kForever) return "    never";
  return text_of("%6.0f ms", std::chrono::duration<double, std::milli>(span).count());
}

std::string both(const FightCost& cost) {
  return text_of("%5.1f %7s", cost.accepted, text_of("(%.1f)", cost.sent).c_str());
}

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
  return "          | agreeing: until settled      | each change, for each key      | disagreeing: "
         "writes for each key, accepted (sent)\n"
         "  writers |  writes  conflicts    within | writes  conflicts    within    |        10 "
         "min "
         "          8 h   unguarded, 10 min\n"
         "  --------+------------------------------+--------------------------------+--------------"
         "----------------------------------\n";
}

std::string table_legend() {
  return "  within: from the change until every object was as wanted, at the slowest\n"
         "  !     : not all came out as wanted, or not with exactly one leader\n"
         "  -     : not run\n";
}

std::string table_line(const ExperimentRow& row) {
  return text_of("  %7zu | %7llu  %9llu %9s | %6.3f  %9.3f %9s %s | %s %s   %8s\n", row.writers,
                 static_cast<unsigned long long>(row.settling.writes),
                 static_cast<unsigned long long>(row.settling.conflicts),
                 in_ms(row.settling.converged).c_str(), row.settled_writes, row.settled_conflicts,
                 in_ms(row.settled_converged).c_str(), row.agreed ? " " : "!",
                 both(row.fight_short).c_str(), both(row.fight_long).c_str(),
                 row.unguarded_short > 0 ? text_of("%.0f", row.unguarded_short).c_str() : "-");
}

}  // namespace tenure::sim
