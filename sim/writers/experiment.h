// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "writers/world.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tenure::sim {

/// What happens as writers are added.
struct ExperimentOptions {
  std::size_t most_writers = 1000;
  std::size_t keys = 20;
  std::size_t rounds = 5;
  std::uint64_t seed = 1;
};

/// Writes for each key.
struct FightCost {
  double accepted = 0;
  double sent = 0;  ///< The refused ones included.
};

/// One number of writers. All but `settling` are for each key.
struct ExperimentRow {
  std::size_t writers = 0;
  WritersRound settling;         ///< Agreeing: until each writer has had a result.
  double settled_writes = 0;     ///< Agreeing: sent to the store for one change, mean.
  double settled_conflicts = 0;  ///< Of those, refused.
  Duration settled_converged{};  ///< Agreeing: the slowest change.
  bool agreed = false;           ///< Agreeing: all came out as wanted, with one leader.
  FightCost fight_short;         ///< Disagreeing: after kShortFight.
  FightCost fight_long;          ///< Disagreeing: after kLongFight.
  double unguarded_short = 0;    ///< Disagreeing, without a guard: accepted after kShortFight.
};

inline constexpr Duration kShortFight = std::chrono::minutes(10);
inline constexpr Duration kLongFight = std::chrono::minutes(500);

/// Runs it for 1, 2, 3, 10, 30, 100 ... writers; `progress` is told each row. Deterministic.
[[nodiscard]] std::vector<ExperimentRow> run_experiment(
    const ExperimentOptions& options, const std::function<void(const ExperimentRow&)>& progress);

/// The rows as a table, with its head, and what its signs mean.
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string table_legend();
[[nodiscard]] std::string table_line(const ExperimentRow& row);

/// The rows as a picture (SVG): writes for each key over the number of writers.
[[nodiscard]] std::string picture(const ExperimentOptions& options,
                                  const std::vector<ExperimentRow>& rows);

}  // namespace tenure::sim
