// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/fake_store.h"

#include <algorithm>
#include <utility>

namespace tenure::test {
namespace {

constexpr int kInvalidArgument = 3;
constexpr int kNotFound = 5;
constexpr int kFailedPrecondition = 9;
constexpr int kOutOfRange = 11;

bool within(std::int64_t value, std::int64_t least, std::int64_t most) {
  return (least == 0 || value >= least) && (most == 0 || value <= most);
}

bool before(const pb::KeyValue& a, const pb::KeyValue& b, pb::RangeRequest::Target target) {
  switch (target) {
    case pb::RangeRequest::VERSION:
      return a.version() < b.version();
    case pb::RangeRequest::CREATE:
      return a.create_revision() < b.create_revision();
    case pb::RangeRequest::MOD:
      return a.mod_revision() < b.mod_revision();
    case pb::RangeRequest::VALUE:
      return a.value() < b.value();
    default:
      return a.key() < b.key();
  }
}

template <typename T>
bool compares(const T& actual, pb::Compare::Result result, const T& wanted) {
  switch (result) {
    case pb::Compare::EQUAL:
      return actual == wanted;
    case pb::Compare::GREATER:
      return actual > wanted;
    case pb::Compare::LESS:
      return actual < wanted;
    default:
      return actual != wanted;
  }
}

}  // namespace

bool FakeStore::in_range(std::string_view key, std::string_view begin, std::string_view end) {
  if (end.empty()) return key == begin;
  if (end == std::string_view("\0", 1)) return key >= begin;
  return key >= begin && key < end;
}

pb::RangeResponse FakeStore::range(const pb::RangeRequest& request) const {
  if (request.revision() > revision_) {
    throw FakeStatus(kOutOfRange, "etcdserver: mvcc: required revision is a future revision");
  }
  if (request.revision() != 0 && request.revision() != revision_) {
    throw FakeStatus(kOutOfRange, "etcdserver: mvcc: required revision has been compacted");
  }
  std::vector<const pb::KeyValue*> found;
  pb::RangeResponse response;
  for (const auto& [key, kv] : keys_) {
    if (!in_range(key, request.key(), request.range_end())) continue;
    response.set_count(response.count() + 1);  // before the filters, as etcd counts
    if (within(kv.mod_revision(), request.min_mod_revision(), request.max_mod_revision()) &&
        within(kv.create_revision(), request.min_create_revision(),
               request.max_create_revision())) {
      found.push_back(&kv);
    }
  }
  const auto order = request.sort_order();
  if (order != pb::RangeRequest::NONE) {
    std::stable_sort(found.begin(), found.end(), [&](const auto* a, const auto* b) {
      if (order == pb::RangeRequest::DESCEND) std::swap(a, b);
      return before(*a, *b, request.sort_target());
    });
  }
  if (request.limit() > 0 && found.size() > static_cast<std::size_t>(request.limit())) {
    found.resize(static_cast<std::size_t>(request.limit()));
    response.set_more(true);
  }
  if (request.count_only()) return response;
  for (const pb::KeyValue* kv : found) {
    *response.add_kvs() = *kv;
    if (request.keys_only()) response.mutable_kvs()->rbegin()->clear_value();
  }
  return response;
}

void FakeStore::check_lease(std::int64_t lease) const {
  if (lease != 0 && !leases_.contains(lease)) {
    throw FakeStatus(kNotFound, "etcdserver: requested lease not found");
  }
}

pb::PutResponse FakeStore::put(const pb::PutRequest& request) {
  pb::PutResponse response = put_at(revision_ + 1, request);
  ++revision_;
  return response;
}

pb::PutResponse FakeStore::put_at(std::int64_t revision, const pb::PutRequest& request) {
  if (request.key().empty()) throw FakeStatus(kInvalidArgument, "etcdserver: key is not provided");
  check_lease(request.lease());
  const bool exists = keys_.contains(request.key());
  if (!exists && (request.ignore_value() || request.ignore_lease())) {
    throw FakeStatus(kInvalidArgument, "etcdserver: key not found");
  }
  pb::KeyValue& kv = keys_[request.key()];
  Watched watched{.revision = revision, .event = {}};
  pb::PutResponse response;
  if (exists) *watched.event.mutable_prev_kv() = kv;
  if (exists && request.prev_kv()) *response.mutable_prev_kv() = kv;
  kv.set_key(request.key());
  if (!exists) kv.set_create_revision(revision);
  kv.set_mod_revision(revision);
  kv.set_version(kv.version() + 1);
  if (!request.ignore_value()) kv.set_value(request.value());
  if (!request.ignore_lease()) kv.set_lease(request.lease());
  *watched.event.mutable_kv() = kv;
  events_.push_back(std::move(watched));
  return response;
}

pb::DeleteRangeResponse FakeStore::remove(const pb::DeleteRangeRequest& request) {
  pb::DeleteRangeResponse response = remove_at(revision_ + 1, request);
  if (response.deleted() > 0) ++revision_;
  return response;
}

pb::DeleteRangeResponse FakeStore::remove_at(std::int64_t revision,
                                             const pb::DeleteRangeRequest& request) {
  pb::DeleteRangeResponse response;
  for (auto it = keys_.begin(); it != keys_.end();) {
    if (!in_range(it->first, request.key(), request.range_end())) {
      ++it;
      continue;
    }
    if (request.prev_kv()) *response.add_prev_kvs() = it->second;
    Watched watched{.revision = revision, .event = {}};
    watched.event.set_type(pb::Event::DELETE);
    watched.event.mutable_kv()->set_key(it->first);
    watched.event.mutable_kv()->set_mod_revision(revision);
    *watched.event.mutable_prev_kv() = it->second;
    events_.push_back(std::move(watched));
    response.set_deleted(response.deleted() + 1);
    it = keys_.erase(it);
  }
  return response;
}

bool FakeStore::holds(const pb::Compare& compare) const {
  const auto check = [&](const pb::KeyValue& kv, bool exists) {
    switch (compare.target()) {
      case pb::Compare::VERSION:
        return compares(kv.version(), compare.result(), compare.version());
      case pb::Compare::CREATE:
        return compares(kv.create_revision(), compare.result(), compare.create_revision());
      case pb::Compare::MOD:
        return compares(kv.mod_revision(), compare.result(), compare.mod_revision());
      case pb::Compare::LEASE:
        return compares(kv.lease(), compare.result(), compare.lease());
      default:
        return exists && compares(kv.value(), compare.result(), compare.value());
    }
  };
  bool any = false;
  for (const auto& [key, kv] : keys_) {
    if (!in_range(key, compare.key(), compare.range_end())) continue;
    any = true;
    if (!check(kv, true)) return false;
  }
  return any || check({}, false);
}

pb::TxnResponse FakeStore::txn(const pb::TxnRequest& request) {
  // A refusal in the middle leaves nothing behind.
  const auto before = std::pair{keys_, events_.size()};
  pb::TxnResponse response;
  try {
    if (run(revision_ + 1, request, response)) ++revision_;
  } catch (const FakeStatus&) {
    keys_ = before.first;
    events_.resize(before.second);
    throw;
  }
  return response;
}

// Whether it wrote anything.
bool FakeStore::run(std::int64_t revision, const pb::TxnRequest& request,
                    pb::TxnResponse& response) {
  const bool succeeded = std::all_of(request.compare().begin(), request.compare().end(),
                                     [&](const auto& compare) { return holds(compare); });
  response.set_succeeded(succeeded);
  bool wrote = false;
  std::vector<std::string> put;
  for (const pb::RequestOp& op : succeeded ? request.success() : request.failure()) {
    pb::ResponseOp& answer = *response.add_responses();
    if (op.has_request_put()) {
      if (std::find(put.begin(), put.end(), op.request_put().key()) != put.end()) {
        throw FakeStatus(kInvalidArgument, "etcdserver: duplicate key given in txn request");
      }
      put.push_back(op.request_put().key());
      *answer.mutable_response_put() = put_at(revision, op.request_put());
      wrote = true;
    } else if (op.has_request_delete_range()) {
      *answer.mutable_response_delete_range() = remove_at(revision, op.request_delete_range());
      wrote = wrote || answer.response_delete_range().deleted() > 0;
    } else if (op.has_request_txn()) {
      wrote = run(revision, op.request_txn(), *answer.mutable_response_txn()) || wrote;
    } else {
      *answer.mutable_response_range() = range(op.request_range());
    }
  }
  return wrote;
}

pb::LeaseGrantResponse FakeStore::grant(const pb::LeaseGrantRequest& request) {
  const std::int64_t id = request.id() != 0 ? request.id() : next_lease_++;
  if (leases_.contains(id)) {
    throw FakeStatus(kFailedPrecondition, "etcdserver: lease already exists");
  }
  if (request.ttl() > 9'000'000'000) {
    throw FakeStatus(kOutOfRange, "etcdserver: too large lease TTL");
  }
  leases_[id] = std::max<std::int64_t>(request.ttl(), 2);
  pb::LeaseGrantResponse response;
  response.set_id(id);
  response.set_ttl(leases_[id]);
  return response;
}

pb::LeaseRevokeResponse FakeStore::revoke(const pb::LeaseRevokeRequest& request) {
  if (leases_.erase(request.id()) == 0) {
    throw FakeStatus(kNotFound, "etcdserver: requested lease not found");
  }
  bool wrote = false;
  for (auto it = keys_.begin(); it != keys_.end();) {
    const auto next = std::next(it);
    if (it->second.lease() == request.id()) {
      pb::DeleteRangeRequest one;
      one.set_key(it->first);
      remove_at(revision_ + 1, one);
      wrote = true;
    }
    it = next;
  }
  revision_ += wrote;
  return {};
}

pb::LeaseKeepAliveResponse FakeStore::keep_alive(const pb::LeaseKeepAliveRequest& request) const {
  pb::LeaseKeepAliveResponse response;
  response.set_id(request.id());
  const auto lease = leases_.find(request.id());
  if (lease != leases_.end()) response.set_ttl(lease->second);
  return response;
}

pb::LeaseTimeToLiveResponse FakeStore::time_to_live(
    const pb::LeaseTimeToLiveRequest& request) const {
  pb::LeaseTimeToLiveResponse response;
  response.set_id(request.id());
  response.set_ttl(-1);
  const auto lease = leases_.find(request.id());
  if (lease == leases_.end()) return response;
  response.set_ttl(lease->second);
  response.set_granted_ttl(lease->second);
  for (const auto& [key, kv] : keys_) {
    if (request.keys() && kv.lease() == request.id()) response.add_keys(key);
  }
  return response;
}

void FakeStore::forget(std::string_view key) {
  const auto it = keys_.find(key);
  if (it != keys_.end()) keys_.erase(it);
}

}  // namespace tenure::test
