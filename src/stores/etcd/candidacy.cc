// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/candidacy.h"

#include <algorithm>
#include <utility>

namespace tenure::etcd {
namespace {

// Leases that end under our hands, keys that others meddle with: at some point somebody must wait.
constexpr int kMostRounds = 5;

const KeyValue* find_key(const std::vector<KeyValue>& kvs, const std::string& key) {
  const auto found =
      std::find_if(kvs.begin(), kvs.end(), [&](const KeyValue& kv) { return kv.key == key; });
  return found == kvs.end() ? nullptr : &*found;
}

}  // namespace

void Candidacy::take_turn(const CandidatePtr& candidate, Executor::Task turn) {
  if (candidate->busy) return candidate->turns.push_back(std::move(turn));
  candidate->busy = true;
  turn();
}

void Candidacy::end_turn(const CandidatePtr& candidate) {
  if (!candidate->turns.empty()) {
    const Executor::Task next = std::move(candidate->turns.front());
    candidate->turns.pop_front();
    return next();
  }
  candidate->busy = false;
  if (candidate->revision == 0 && !candidate->in_doubt) core_.roster.remove(candidate);
  keeper_.settle(candidate->lease);
  watching_.changed(candidate->election);
}

void Candidacy::acquire(const AcquireRequest& request, const AskPtr<AcquireReply>& ask) {
  auto candidate = core_.roster.find(request.election, request.session);
  if (candidate == nullptr) {
    candidate =
        core_.roster.add(request.election, request.session, request.id, lease_seconds(request.ttl));
  }
  auto attempt = std::make_shared<Attempt>(Attempt{candidate, ask, request.limit});
  take_turn(candidate, [this, attempt] { begin(attempt); });
}

void Candidacy::begin(const AttemptPtr& attempt) {
  const CandidatePtr& candidate = attempt->candidate;
  // Somebody who has given up must not be put in line after that.
  if (!attempt->ask->open()) return end_turn(candidate);
  if (++attempt->rounds > kMostRounds) {
    return end(attempt, fail(Errc::unavailable, "the lease or the key in etcd keeps vanishing"));
  }
  if (candidate->lease->machine.state() == Lease::State::gone) core_.roster.move(candidate);
  const LeasePtr lease = candidate->lease;
  keeper_.ready(lease, [this, attempt](const Result<void>& ready) {
    if (!attempt->ask->open()) return end_turn(attempt->candidate);
    if (!ready && ready.error().code == Errc::not_found) return begin(attempt);
    if (!ready) return end(attempt, tl::unexpected(ready.error()));
    if (attempt->candidate->revision == 0) {
      enter(attempt);
    } else {
      look(attempt);
    }
  });
}

void Candidacy::enter(const AttemptPtr& attempt) {
  attempt->looked = false;
  const Candidate& candidate = *attempt->candidate;
  const Range head = core_.head(candidate.election);
  Txn txn;
  txn.conditions = {{candidate.key, 0}};
  txn.then = {Put{candidate.key, candidate.id, candidate.lease->machine.id()}, head};
  txn.otherwise = {Range{.key = candidate.key}, head};
  attempt->ask->in_doubt = true;
  core_.writes.add(std::move(txn), candidate.election, attempt->limit,
                   [this, attempt](Result<TxnReply> reply) { entered(attempt, std::move(reply)); });
}

void Candidacy::entered(const AttemptPtr& attempt, Result<TxnReply> reply) {
  const CandidatePtr& candidate = attempt->candidate;
  const LeasePtr lease = candidate->lease;
  if (!reply) {
    const Errc code = reply.error().code;
    attempt->ask->in_doubt = code == Errc::outcome_unknown;
    if (code == Errc::not_found) {
      lease->machine.lost();
      return begin(attempt);
    }
    if (code == Errc::outcome_unknown || code == Errc::closed) {
      candidate->in_doubt = true;
      candidate->lapses_at = saturating_add(core_.now(), lease->machine.ttl());
      lease->audit_until = saturating_add(core_.now(), lease->machine.ttl() * 4);
    }
    return end(attempt, tl::unexpected(reply.error()));
  }
  std::vector<KeyValue> seen = std::move(reply->ops.back().kvs);
  if (reply->succeeded) {
    const KeyValue own{candidate->key, candidate->id, reply->header.revision,
                       reply->header.revision, lease->machine.id()};
    if (find_key(seen, own.key) == nullptr) seen.push_back(own);
  } else if (!reply->ops.front().kvs.empty()) {
    KeyValue& own = reply->ops.front().kvs.front();
    if (find_key(seen, own.key) == nullptr) seen.push_back(std::move(own));
  }
  conclude(attempt, reply->header, reply->sent_at, seen);
}

void Candidacy::look(const AttemptPtr& attempt) {
  const Candidate& candidate = *attempt->candidate;
  Txn txn;
  txn.then = place_reads(core_, candidate);
  core_.reads.add(std::move(txn), {}, attempt->limit,
                  [this, attempt](Result<TxnReply> reply) { looked(attempt, std::move(reply)); });
}

void Candidacy::looked(const AttemptPtr& attempt, Result<TxnReply> reply) {
  if (!reply) return end(attempt, tl::unexpected(reply.error()));
  attempt->looked = true;
  conclude(attempt, reply->header, reply->sent_at, all_of(*reply));
}

void Candidacy::look_at_all(const AttemptPtr& attempt) {
  Txn txn;
  txn.then = {core_.members(attempt->candidate->election)};
  core_.reads.add(std::move(txn), {}, attempt->limit,
                  [this, attempt](Result<TxnReply> reply) { looked(attempt, std::move(reply)); });
}

void Candidacy::conclude(const AttemptPtr& attempt, const Header& header, Instant sent_at,
                         const std::vector<KeyValue>& seen) {
  const CandidatePtr& candidate = attempt->candidate;
  const std::string prefix = core_.prefix_of(candidate->election);
  Lease& lease = candidate->lease->machine;
  const KeyValue* const own = find_key(seen, candidate->key);
  if (own == nullptr) {
    candidate->revision = 0;
    candidate->holding = false;
    candidate->in_doubt = false;
    return begin(attempt);
  }
  if (own->lease != lease.id()) return discard_detached(attempt, *own);
  candidate->revision = own->create_revision;
  candidate->in_doubt = false;
  const bool confirmed = lease.shown(header, sent_at);
  // Only nested keys were the oldest: the head of the line is further down.
  const bool nested = std::any_of(seen.begin(), seen.end(),
                                  [&](const KeyValue& kv) { return !is_member(prefix, kv.key); });
  if (nested && !attempt->looked_at_all) {
    attempt->looked_at_all = true;
    return look_at_all(attempt);
  }
  const KeyValue* const head = head_of(prefix, seen);
  watching_.placed(candidate, header.revision, seen, attempt->looked || head->key == own->key);
  if (head->key != own->key) return wait_in_line(attempt, *head);
  // Another leader has come between keepalive and read: once more, with its term.
  const bool over = saturating_add(lease.sent_at(), lease.ttl()) <= core_.now();
  if (!confirmed && (over || lease.is_stale(core_.now()) || lease.sent_at() == kLongAgo)) {
    keeper_.keep(candidate->lease, [this, attempt](const Result<void>& kept) {
      if (!kept && kept.error().code != Errc::not_found) {
        return end(attempt, tl::unexpected(kept.error()));
      }
      begin(attempt);
    });
    return;
  }
  win(attempt, *own);
}

void Candidacy::win(const AttemptPtr& attempt, const KeyValue& own) {
  const CandidatePtr& candidate = attempt->candidate;
  AcquireReply reply;
  reply.ours = true;
  reply.in_line = true;
  reply.record = core_.record(candidate->election, own);
  reply.sent_at = candidate->lease->machine.sent_at();
  candidate->holding = true;
  candidate->lapses_at = saturating_add(reply.sent_at, candidate->lease->machine.ttl());
  end(attempt, std::move(reply));
}

void Candidacy::wait_in_line(const AttemptPtr& attempt, const KeyValue& head) {
  const CandidatePtr& candidate = attempt->candidate;
  AcquireReply reply;
  reply.in_line = true;
  reply.record = core_.record(candidate->election, head);
  candidate->holding = false;
  candidate->lapses_at = kNever;
  end(attempt, std::move(reply));
}

// Our key without our lease would outlive us: somebody has overwritten it. It is no candidate of
// ours any more, and it must not block the line.
void Candidacy::discard_detached(const AttemptPtr& attempt, const KeyValue& own) {
  const CandidatePtr& candidate = attempt->candidate;
  candidate->revision = 0;
  candidate->holding = false;
  core_.writes.add(removal(own.key, own.create_revision), candidate->election, attempt->limit,
                   [this, attempt](const Result<TxnReply>& reply) {
                     if (!reply) return end(attempt, tl::unexpected(reply.error()));
                     begin(attempt);
                   });
}

void Candidacy::end(const AttemptPtr& attempt, Result<AcquireReply> reply) {
  const CandidatePtr candidate = attempt->candidate;
  // Nobody hears this any more, and whoever asked has been told that it is not known: unless he
  // asks again, the key goes.
  if (!attempt->ask->open() && candidate->revision != 0) {
    candidate->lapses_at = saturating_add(core_.now(), candidate->lease->machine.ttl());
  }
  if (!reply && reply.error().code == Errc::outcome_unknown) attempt->ask->in_doubt = true;
  attempt->ask->answer(std::move(reply));
  end_turn(candidate);
}

void Candidacy::release(const ReleaseRequest& request, const AskPtr<ReleaseReply>& ask) {
  const auto candidate = core_.roster.find(request.election, request.session);
  if (candidate == nullptr) return ask->answer(ReleaseReply{});
  const auto revision = static_cast<Revision>(request.revision);
  take_turn(candidate, [this, candidate, revision, limit = request.limit, ask] {
    if (!ask->open()) return end_turn(candidate);
    if (candidate->revision == 0 && !candidate->in_doubt) {
      ask->answer(ReleaseReply{});
      return end_turn(candidate);
    }
    leave(candidate, revision, limit, ask);
  });
}

void Candidacy::leave(const CandidatePtr& candidate, Revision revision, Instant limit,
                      const AskPtr<ReleaseReply>& ask) {
  ask->in_doubt = true;
  const bool all = revision == 0 || revision == candidate->revision;
  core_.writes.add(removal(candidate->key, revision), candidate->election, limit,
                   [this, candidate, ask, all](Result<TxnReply> reply) {
                     if (reply) {
                       ReleaseReply answer;
                       for (const OpReply& op : reply->ops)
                         answer.released = answer.released || op.deleted > 0;
                       if (all || answer.released) {
                         candidate->revision = 0;
                         candidate->holding = false;
                         candidate->in_doubt = false;
                       }
                       ask->answer(answer);
                     } else {
                       // Its owner wants to be gone: if he cannot say so again, it lapses.
                       if (all) candidate->lapses_at = core_.now();
                       ask->in_doubt = reply.error().code == Errc::outcome_unknown;
                       ask->answer(tl::unexpected(std::move(reply.error())));
                     }
                     end_turn(candidate);
                   });
}

}  // namespace tenure::etcd
