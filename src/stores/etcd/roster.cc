// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/roster.h"

#include "stores/etcd/keys.h"

#include <algorithm>

namespace tenure::etcd {

CandidatePtr Roster::find(std::string_view election, std::string_view session) const {
  const auto found = by_election_.find(std::string(election));
  if (found == by_election_.end()) return nullptr;
  for (const CandidatePtr& candidate : found->second) {
    if (candidate->session == session) return candidate;
  }
  return nullptr;
}

CandidatePtr Roster::find_key(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

LeasePtr Roster::pick(const std::string& election, std::int64_t ttl_s) {
  const auto others = by_election_.find(election);
  for (const LeasePtr& lease : leases_) {
    if (lease->machine.ttl_s() != ttl_s || lease->machine.state() == Lease::State::gone) continue;
    const bool taken = others != by_election_.end() &&
                       std::any_of(others->second.begin(), others->second.end(),
                                   [&](const CandidatePtr& one) { return one->lease == lease; });
    if (!taken) return lease;
  }
  leases_.push_back(std::make_shared<HeldLease>(new_id_(), ttl_s));
  return leases_.back();
}

void Roster::settle(const CandidatePtr& candidate, LeasePtr lease) {
  candidate->lease = std::move(lease);
  candidate->lease->candidates.insert(candidate.get());
  candidate->key =
      election_prefix(prefix_, candidate->election) + to_hex(candidate->lease->machine.id());
  by_key_[candidate->key] = candidate;
}

CandidatePtr Roster::add(std::string election, std::string session, std::string id,
                         std::int64_t ttl_s) {
  auto candidate = std::make_shared<Candidate>();
  candidate->election = std::move(election);
  candidate->session = std::move(session);
  candidate->id = std::move(id);
  settle(candidate, pick(candidate->election, ttl_s));
  by_election_[candidate->election].push_back(candidate);
  return candidate;
}

void Roster::move(const CandidatePtr& candidate) {
  by_key_.erase(candidate->key);
  candidate->lease->candidates.erase(candidate.get());
  candidate->revision = 0;
  candidate->holding = false;
  candidate->in_doubt = false;
  settle(candidate, pick(candidate->election, candidate->lease->machine.ttl_s()));
}

void Roster::remove(const CandidatePtr& candidate) {
  if (!std::exchange(candidate->listed, false)) return;
  by_key_.erase(candidate->key);
  candidate->lease->candidates.erase(candidate.get());
  const auto found = by_election_.find(candidate->election);
  if (found == by_election_.end()) return;
  std::erase(found->second, candidate);
  if (found->second.empty()) by_election_.erase(found);
}

void Roster::sweep(Instant now) {
  std::erase_if(leases_, [now](const LeasePtr& lease) {
    if (!lease->candidates.empty() || lease->asking) return false;
    return lease->machine.state() == Lease::State::gone ||
           (lease->machine.state() == Lease::State::alive && lease->machine.likely_until() <= now);
  });
}

}  // namespace tenure::etcd
