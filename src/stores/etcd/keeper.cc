// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/keeper.h"

#include <algorithm>
#include <chrono>

namespace tenure::etcd {
namespace {

using std::chrono::milliseconds;

constexpr Duration kFirstRetry = milliseconds(100);
constexpr unsigned kMostDoublings = 4;
// After the likely end of a lease that nobody keeps: the server ends it up to half a second later.
constexpr Duration kAfterwards = milliseconds(1500);

bool keeps_alive(const Candidate& candidate) noexcept {
  return candidate.revision != 0 && !candidate.holding && candidate.lapses_at == kNever;
}

}  // namespace

Txn removal(const std::string& key, Revision revision) {
  Txn txn;
  Op look = Range{.key = key, .keys_only = true};
  if (revision != 0) {
    txn.conditions = {{key, revision}};
    txn.then = {Delete{key}};
    txn.otherwise = {std::move(look)};
  } else {
    txn.conditions = {{key, 0}};
    txn.then = {std::move(look)};
    txn.otherwise = {Delete{key}};
  }
  return txn;
}

void Keeper::ready(const LeasePtr& lease, Ready ready) {
  const Lease& machine = lease->machine;
  if (machine.state() == Lease::State::gone) {
    return ready(fail(Errc::not_found, "the lease has ended"));
  }
  if (machine.state() == Lease::State::alive && !machine.is_stale(core_.now())) return ready({});
  if (machine.state() == Lease::State::alive) return keep(lease, std::move(ready));
  lease->waiting.push_back(std::move(ready));
  if (!lease->asking) grant(lease);
}

void Keeper::keep(const LeasePtr& lease, Ready ready) {
  lease->waiting.push_back(std::move(ready));
  if (!lease->asking) ask(lease);
}

void Keeper::grant(const LeasePtr& lease) {
  lease->asking = true;
  core_.cluster->grant(lease->machine.id(), lease->machine.ttl_s(), kNever,
                       [this, lease](const Result<LeaseReply>& reply) {
                         lease->asking = false;
                         if (reply) {
                           lease->machine.granted(*reply);
                           return answer(lease, {});
                         }
                         // An earlier try was granted and its answer lost; the id is random.
                         if (reply.error().code == Errc::conflict) return ask(lease);
                         answer(lease, tl::unexpected(reply.error()));
                       });
}

void Keeper::ask(const LeasePtr& lease) {
  drop_lapsed(lease);
  lease->asking = true;
  const Duration ttl = std::max<Duration>(lease->machine.ttl(), std::chrono::seconds(1));
  const Instant limit = saturating_add(core_.now(), ttl / 3);
  core_.cluster->keep_alive(lease->machine.id(), limit,
                            [this, lease](const Result<LeaseReply>& reply) {
                              lease->asking = false;
                              if (!reply) return answer(lease, tl::unexpected(reply.error()));
                              lease->machine.kept(*reply, core_.now());
                              if (lease->machine.state() == Lease::State::gone) return gone(lease);
                              answer(lease, {});
                            });
}

void Keeper::answer(const LeasePtr& lease, const Result<void>& result) {
  lease->failures = result ? 0 : lease->failures + 1;
  if (result && lease->audit_until > core_.now()) audit(lease);
  for (const Ready& ready : std::exchange(lease->waiting, {})) ready(result);
  settle(lease);
}

void Keeper::gone(const LeasePtr& lease) {
  lease->machine.lost();
  for (Candidate* const candidate : lease->candidates) {
    candidate->revision = 0;
    candidate->holding = false;
    candidate->in_doubt = false;
    // Whoever still wants a place acquires again.
    candidate->lapses_at = core_.now();
  }
  answer(lease, fail(Errc::not_found, "the lease has ended"));
}

void Keeper::settle(const LeasePtr& lease) {
  const Lease& machine = lease->machine;
  if (core_.closed || lease->asking) return;
  if (machine.state() == Lease::State::gone) {
    drop_lapsed(lease);
    lease->timer = nullptr;
    return core_.roster.sweep(core_.now());
  }
  if (machine.state() == Lease::State::absent) return;
  const bool keep = std::any_of(lease->candidates.begin(), lease->candidates.end(),
                                [](const Candidate* one) { return keeps_alive(*one); });
  Instant when = keep ? machine.keep_at() : saturating_add(machine.likely_until(), kAfterwards);
  if (keep && lease->failures > 0) {
    const Duration pause = kFirstRetry * (1U << std::min(lease->failures, kMostDoublings));
    const double jitter = static_cast<double>(core_.executor.random() >> 11U) * 0x1p-53;
    when = saturating_add(core_.now(), scale(pause, jitter));
  }
  lease->timer = core_.executor.at(when, [this, lease] { tick(lease); });
}

void Keeper::tick(const LeasePtr& lease) {
  const auto timer = std::move(lease->timer);
  if (lease->asking || core_.closed) return;
  const bool keep = std::any_of(lease->candidates.begin(), lease->candidates.end(),
                                [](const Candidate* one) { return keeps_alive(*one); });
  if (keep) return ask(lease);
  // Nobody has kept it alive, so it has ended; who comes back gets a new one.
  lease->machine.lost();
  gone(lease);
}

void Keeper::drop_lapsed(const LeasePtr& lease) {
  const Instant now = core_.now();
  std::vector<CandidatePtr> lapsed;
  for (Candidate* const candidate : lease->candidates) {
    if (candidate->busy || candidate->lapses_at > now) continue;
    if (auto shared = core_.roster.find_key(candidate->key)) lapsed.push_back(std::move(shared));
  }
  for (const CandidatePtr& candidate : lapsed) remove(candidate);
}

void Keeper::remove(const CandidatePtr& candidate) {
  const LeasePtr lease = candidate->lease;
  core_.roster.remove(candidate);
  if (lease->machine.state() == Lease::State::gone) return;
  if (candidate->revision == 0 && !candidate->in_doubt) return;
  Txn txn = removal(candidate->key, candidate->in_doubt ? 0 : candidate->revision);
  core_.writes.add(std::move(txn), {}, saturating_add(core_.now(), lease->machine.ttl()),
                   [this, lease](const Result<TxnReply>& reply) {
                     // What could not be taken away is found by the next audits.
                     if (!reply) {
                       lease->audit_until = saturating_add(core_.now(), lease->machine.ttl() * 4);
                     }
                   });
}

// A write that was given up for lost may still be carried out, and its key would stay for as long
// as the lease is kept alive for others.
void Keeper::audit(const LeasePtr& lease) {
  core_.cluster->time_to_live(
      lease->machine.id(), true, kNever, [this, lease](const Result<LeaseInfo>& info) {
        if (!info) return;
        for (const std::string& key : info->keys) {
          if (core_.roster.find_key(key) != nullptr) continue;
          core_.writes.add(removal(key, 0), {}, kNever, [](const Result<TxnReply>&) {});
        }
      });
}

}  // namespace tenure::etcd
