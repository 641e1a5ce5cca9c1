// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/ledger.h"

#include <utility>

namespace tenure::sqlite {

bool Ledger::is_held(const Row& row, Instant now) const {
  return row.is_held && row.boot_id == boot_id_ && row.expires > now &&
         lock_.pulse(row.lock) != Pulse::dead;
}

Record Ledger::record_of(const Row& row) const {
  Record record;
  record.election = row.name;
  record.id = row.id;
  record.session = row.session;
  record.revision = row.token;
  record.token = row.token;
  record.ttl = row.ttl;
  record.acquired_at = row.acquired;
  record.expires_at = row.expires;
  return record;
}

ElectionState Ledger::state_of(const Row& row, bool held, std::uint64_t as_of) const {
  ElectionState state;
  state.election = row.name;
  state.as_of = as_of;
  if (held) state.holder = record_of(row);
  return state;
}

Result<std::optional<AcquireReply>> Ledger::refuse(const AcquireRequest& request) {
  auto row = table_.find(request.election);
  if (!row) return tl::unexpected<Error>(std::move(row.error()));
  if (!*row || (*row)->session == request.session || !is_held(**row, clock_.now())) {
    return std::optional<AcquireReply>();
  }
  AcquireReply reply;
  reply.record = record_of(**row);
  return std::optional<AcquireReply>(std::move(reply));
}

Result<AcquireReply> Ledger::acquire(const AcquireRequest& request, Instant sent_at) {
  auto row = table_.find(request.election);
  if (!row) return tl::unexpected<Error>(std::move(row.error()));
  // After sent_at, so that the holder's own deadline always comes first.
  const Instant now = clock_.now();
  AcquireReply reply;
  if (*row && is_held(**row, now)) {
    reply.ours = (*row)->session == request.session;
    if (reply.ours) {
      // Asked again, after an unknown outcome. The same term, and its end must match the validity
      // that this answer promises.
      (*row)->lock = lock_.place();
      (*row)->ttl = request.ttl;
      (*row)->expires = saturating_add(now, request.ttl);
      reply.sent_at = sent_at;
      if (auto put = table_.put(**row); !put) return tl::unexpected<Error>(std::move(put.error()));
    }
    reply.record = record_of(**row);
    return reply;
  }
  auto record = grant(request, now);
  if (!record) return tl::unexpected<Error>(std::move(record.error()));
  reply.ours = true;
  reply.sent_at = sent_at;
  reply.record = std::move(*record);
  return reply;
}

Result<std::uint64_t> Ledger::next_revision() {
  TokenMark mark = lock_.mark();
  auto next = table_.next_revision(mark.floor(boot_id_));
  if (!next) return next;
  const bool is_durable = mark.note(*next, boot_id_);
  if (auto set = lock_.set_mark(mark, is_durable); !set) return tl::unexpected(set.error());
  return next;
}

Result<Record> Ledger::grant(const AcquireRequest& request, Instant now) {
  auto revision = next_revision();
  if (!revision) return tl::unexpected<Error>(std::move(revision.error()));
  Row row;
  row.name = request.election;
  row.token = *revision;
  row.change = *revision;
  row.is_held = true;
  row.session = request.session;
  row.id = request.id;
  row.ttl = request.ttl;
  row.expires = saturating_add(now, request.ttl);
  row.acquired = now;
  row.acquired_wall = clock_.wall_now();
  row.boot_id = boot_id_;
  row.lock = lock_.place();
  if (auto put = table_.put(row); !put) return tl::unexpected<Error>(std::move(put.error()));
  has_changed_ = true;
  return record_of(row);
}

Result<RenewReply> Ledger::renew(const RenewRequest& request, Instant sent_at) {
  const Record& record = request.record;
  const Instant now = clock_.now();
  RenewReply reply;
  auto prolonged =
      table_.prolong(record.election, record.session, record.revision, boot_id_, now, request.ttl);
  if (!prolonged) return tl::unexpected<Error>(std::move(prolonged.error()));
  if (*prolonged) {
    reply.held = true;
    reply.ttl = request.ttl;
    reply.sent_at = sent_at;
    return reply;
  }
  auto row = table_.find(record.election);
  if (!row) return tl::unexpected<Error>(std::move(row.error()));
  if (*row && is_held(**row, now)) reply.holder = record_of(**row);
  return reply;
}

Result<ReleaseReply> Ledger::release(const ReleaseRequest& request) {
  auto row = table_.find(request.election);
  if (!row) return tl::unexpected<Error>(std::move(row.error()));
  ReleaseReply reply;
  const bool is_meant = *row && (*row)->is_held && (*row)->session == request.session &&
                        (request.revision == 0 || (*row)->token == request.revision);
  if (!is_meant || !is_held(**row, clock_.now())) return reply;
  auto revision = next_revision();
  if (!revision) return tl::unexpected<Error>(std::move(revision.error()));
  if (auto done = table_.vacate(request.election, *revision); !done) {
    return tl::unexpected<Error>(std::move(done.error()));
  }
  has_changed_ = true;
  reply.released = true;
  return reply;
}

Result<std::vector<ElectionState>> Ledger::list(const std::string& election) {
  auto as_of = table_.last_revision();
  if (!as_of) return tl::unexpected<Error>(std::move(as_of.error()));
  std::vector<ElectionState> states;
  const Instant now = clock_.now();
  if (!election.empty()) {
    auto row = table_.find(election);
    if (!row) return tl::unexpected<Error>(std::move(row.error()));
    if (*row) states.push_back(state_of(**row, is_held(**row, now), *as_of));
    return states;
  }
  auto rows = table_.changed_since(0);
  if (!rows) return tl::unexpected<Error>(std::move(rows.error()));
  states.reserve(rows->size());
  for (const Row& row : *rows) states.push_back(state_of(row, is_held(row, now), *as_of));
  return states;
}

}  // namespace tenure::sqlite
