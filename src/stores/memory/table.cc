// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/memory/table.h"

#include <algorithm>
#include <utility>

namespace tenure::memory {

Table::Table(MemoryOptions options, Revision revision)
    : options_(options), revision_(std::move(revision)) {}

AcquireReply Table::acquire(const AcquireRequest& request, std::uint64_t client, Instant now) {
  expire(now);
  Line& line = lines_[request.election];
  if (judged(line, request)) remove(request.election, line, line.begin(), now);
  auto entry = std::find_if(line.begin(), line.end(), [&](const Entry& each) {
    return each.record.session == request.session;
  });
  if (entry == line.end() && (line.empty() || options_.has_queue)) {
    append(line, request, client, now);
    entry = line.end() - 1;
  }
  AcquireReply reply;
  reply.record = line.front().record;
  if (entry == line.end()) return reply;
  reply.in_line = options_.has_queue;
  entry->client = client;
  if (entry != line.begin()) {
    entry->record.expires_at = kNever;
    return reply;
  }
  prolong(entry->record, request.ttl, now);
  reply.ours = true;
  reply.record = entry->record;
  return reply;
}

RenewReply Table::renew(const RenewRequest& request, Instant now) {
  expire(now);
  RenewReply reply;
  const auto line = lines_.find(request.record.election);
  if (line == lines_.end() || line->second.empty()) return reply;
  Record& holder = line->second.front().record;
  if (holder.session != request.record.session || holder.revision != request.record.revision) {
    reply.holder = holder;
    return reply;
  }
  prolong(holder, request.ttl, now);
  reply.held = true;
  reply.ttl = holder.ttl;
  if (options_.expiry == ExpiryBy::observers) {
    holder.renewal = next_revision();
    changes_.insert(holder.election);
  }
  return reply;
}

bool Table::release(const ReleaseRequest& request, Instant now) {
  expire(now);
  const auto line = lines_.find(request.election);
  if (line == lines_.end()) return false;
  const auto entry = std::find_if(line->second.begin(), line->second.end(), [&](const Entry& each) {
    return each.record.session == request.session &&
           (request.revision == 0 || request.revision == each.record.revision);
  });
  if (entry == line->second.end()) return false;
  remove(line->first, line->second, entry, now);
  return true;
}

bool Table::force_delete(std::string_view election, Instant now) {
  expire(now);
  const auto line = lines_.find(election);
  if (line == lines_.end() || line->second.empty()) return false;
  remove(line->first, line->second, line->second.begin(), now);
  return true;
}

Record Table::force_takeover(Record record, Instant now) {
  expire(now);
  Line& line = lines_[record.election];
  // Later terms must have larger tokens, so nobody who stood in line before may follow.
  line.clear();
  AcquireRequest request;
  request.election = record.election;
  request.id = record.id;
  request.session = record.session;
  request.ttl = record.ttl;
  return append(line, request, 0, now);
}

void Table::client_gone(std::uint64_t client, Instant now) {
  expire(now);
  for (auto& [name, line] : lines_) {
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (line[i].client == client) prolong(line[i].record, line[i].record.ttl, now);
    }
  }
}

void Table::expire(Instant now) {
  if (now < next_expiry_) return;
  next_expiry_ = kNever;
  for (auto& [name, line] : lines_) {
    // Backwards, so that a front that ends is followed by one that has not ended itself.
    for (std::size_t i = line.size(); i-- > 0;) {
      if (line[i].record.expires_at <= now) {
        remove(name, line, line.begin() + static_cast<std::ptrdiff_t>(i), now);
      }
    }
    for (const Entry& entry : line) {
      next_expiry_ = std::min(next_expiry_, entry.record.expires_at);
    }
  }
}

ElectionState Table::state(std::string_view election, std::string_view session) const {
  ElectionState state;
  state.election = election;
  state.as_of = revision_->load();
  state.in_line = !options_.has_queue || session.empty();
  const auto line = lines_.find(election);
  if (line == lines_.end() || line->second.empty()) return state;
  state.holder = line->second.front().record;
  for (const Entry& entry : line->second) {
    state.in_line = state.in_line || entry.record.session == session;
  }
  return state;
}

std::vector<std::string> Table::names() const {
  std::vector<std::string> names;
  for (const auto& [name, line] : lines_) names.push_back(name);
  return names;
}

std::set<std::string> Table::take_changes() { return std::exchange(changes_, {}); }

Record& Table::append(Line& line, const AcquireRequest& request, std::uint64_t client,
                      Instant now) {
  Record record;
  record.election = request.election;
  record.id = request.id;
  record.session = request.session;
  record.revision = next_revision();
  record.token = record.revision;
  record.ttl = std::min(request.ttl, options_.max_ttl);
  line.push_back({std::move(record), client});
  if (line.size() == 1) {
    line.front().record.acquired_at = now;
    prolong(line.front().record, request.ttl, now);
  }
  changes_.insert(request.election);
  return line.back().record;
}

void Table::prolong(Record& record, Duration ttl, Instant now) {
  record.ttl = std::min(ttl, options_.max_ttl);
  if (options_.expiry == ExpiryBy::observers) return;
  record.expires_at = saturating_add(now, record.ttl);
  next_expiry_ = std::min(next_expiry_, record.expires_at);
}

void Table::remove(const std::string& election, Line& line, Line::iterator entry, Instant now) {
  const bool held = entry == line.begin();
  line.erase(entry);
  next_revision();
  if (held && !line.empty()) {
    Record& next = line.front().record;
    next.acquired_at = now;
    prolong(next, next.ttl, now);
  }
  changes_.insert(election);
}

bool Table::judged(const Line& line, const AcquireRequest& request) const {
  if (options_.expiry != ExpiryBy::observers || line.empty()) return false;
  const Record& holder = line.front().record;
  return request.judged_expired && request.judged_expired->session == holder.session &&
         request.judged_expired->revision == holder.revision &&
         request.judged_expired->renewal == holder.renewal;
}

}  // namespace tenure::memory
