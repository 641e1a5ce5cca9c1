// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/lease.h"

#include <tenure/executor.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tenure::etcd {

struct Candidate;

/// A lease with those who rest on it.
struct HeldLease {
  HeldLease(LeaseId id, std::int64_t ttl_s) : machine(id, ttl_s) {}

  Lease machine;
  std::unordered_set<Candidate*> candidates;

  // Of the keeper.
  bool asking = false;  ///< A grant or keepalive is in flight.
  std::vector<std::function<void(Result<void>)>> waiting{};
  std::unique_ptr<Executor::Handle> timer{};
  unsigned failures = 0;
  /// Until then keys that nobody asked for may turn up on this lease.
  Instant audit_until = kLongAgo;
};
using LeasePtr = std::shared_ptr<HeldLease>;

/// One (election, session) of this store object, from its first acquire until it is released or has
/// lapsed.
///
/// Invariants: `key` names lease and election, and no other candidate has it. `revision` is not 0
/// while the key is believed to be there. A candidate whose `lapses_at` has passed is removed from
/// etcd before its lease is kept alive once more (or ends with it): sharing a lease prolongs
/// nobody's term. `lapses_at` is kNever only for a place in line.
struct Candidate {
  std::string election;
  std::string session;
  std::string id;
  LeasePtr lease;
  std::string key;
  Revision revision = 0;
  bool holding = false;
  bool in_doubt = false;  ///< A write with unknown outcome may have made the key.
  bool listed = true;     ///< Still in the roster.
  Instant lapses_at = kNever;

  // One request at a time.
  bool busy = false;
  std::deque<Executor::Task> turns{};
};
using CandidatePtr = std::shared_ptr<Candidate>;

/// The candidates of a store object and their leases. Pure.
///
/// Which lease: one for all candidates that ask for the same number of seconds; but two candidates
/// of one election would have the same key, so a second one gets another lease, shared in its turn
/// by the second ones of other elections.
class Roster {
 public:
  /// `new_id` gives ids that no lease of the cluster has: random ones.
  Roster(std::string prefix, std::function<LeaseId()> new_id)
      : prefix_(std::move(prefix)), new_id_(std::move(new_id)) {}

  [[nodiscard]] CandidatePtr find(std::string_view election, std::string_view session) const;
  [[nodiscard]] CandidatePtr find_key(const std::string& key) const;
  CandidatePtr add(std::string election, std::string session, std::string id, std::int64_t ttl_s);
  /// To another lease than the one it has, which is gone.
  void move(const CandidatePtr& candidate);
  void remove(const CandidatePtr& candidate);
  /// Forgets leases that are gone or empty and past their time.
  void sweep(Instant now);

  [[nodiscard]] const std::vector<LeasePtr>& leases() const noexcept { return leases_; }
  [[nodiscard]] std::size_t size() const noexcept { return by_key_.size(); }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

 private:
  [[nodiscard]] LeasePtr pick(const std::string& election, std::int64_t ttl_s);
  void settle(const CandidatePtr& candidate, LeasePtr lease);

  const std::string prefix_;
  const std::function<LeaseId()> new_id_;
  std::vector<LeasePtr> leases_;
  std::unordered_map<std::string, std::vector<CandidatePtr>> by_election_;
  std::unordered_map<std::string, CandidatePtr> by_key_;
};

}  // namespace tenure::etcd
