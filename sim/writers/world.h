// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <cstddef>
#include <cstdint>
#include <vector>

/// Many replicas with a writer lease each, over one object store that answers a write with success
/// or conflict and tells of changes a little late: the real machines, in virtual time. What it
/// shows: how many writes it takes until all objects are as wanted, as replicas are added.
namespace tenure::sim {

struct WritersOptions {
  std::size_t writers = 10;
  std::size_t keys = 50;
  /// How many different values the writers want for each key: 1 means that they agree. They differ
  /// for ever if more.
  std::size_t opinions = 1;
  /// From this change on they all agree; 0: never, if there is more than one opinion.
  std::size_t agree_from_round = 0;
  /// How often what is wanted changes after the start, and how long each change is given.
  std::size_t rounds = 5;
  Duration round = std::chrono::seconds(20);
  Duration lease = std::chrono::seconds(60);
  Duration retry_interval = std::chrono::seconds(15);
  /// Half of the head start that a follower gives the leader. Zero: `spread` + `watch_delay`, so
  /// that a follower has learned of a leader's write before it writes itself
  /// (docs/writer-lease.md).
  Duration first_backoff = Duration::zero();
  /// A write takes this long, and a change is seen this much later by others, both +- half.
  Duration write_time = std::chrono::milliseconds(5);
  Duration watch_delay = std::chrono::milliseconds(50);
  /// All writers start, and learn what is wanted, within this.
  Duration spread = std::chrono::milliseconds(100);
  /// Whether each writer has a contention guard.
  bool guarded = true;
  std::uint64_t seed = 1;
};

/// What one round cost.
struct WritersRound {
  std::uint64_t writes = 0;     ///< Sent to the store, conflicting ones included.
  std::uint64_t conflicts = 0;  ///< Of those, refused.
  /// From the change until each object was as somebody wanted it; kForever if that did not come.
  Duration converged{};
};

struct WritersReport {
  /// The start: nobody leads yet. With one opinion and changes to come, it goes on until each
  /// writer has had a result of its own and one leads; with very few keys that takes a change or
  /// two more.
  WritersRound settling;
  std::size_t settling_rounds = 1;    ///< The start and those changes.
  std::vector<WritersRound> settled;  ///< Each change after that.
  std::size_t leaders = 0;            ///< Writers that lead at the end.
  std::size_t pending = 0;            ///< Pieces of work that still wait at the end.
  bool all_as_wanted = false;         ///< Whether at the end each object is as its writers want it.
};

/// Runs it. The same options give the same report, on every platform.
[[nodiscard]] WritersReport simulate(const WritersOptions& options);

}  // namespace tenure::sim
