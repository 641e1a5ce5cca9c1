// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/codec.h"

#include "etcd.pb.h"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>

namespace tenure::etcd::codec {
namespace {

Duration to_ttl(std::int64_t seconds) {
  constexpr std::int64_t kMost = Duration::max().count() / 1'000'000'000;
  if (seconds <= 0) return Duration::zero();
  return std::chrono::seconds(std::min(seconds, kMost));
}

Header to_header(const pb::ResponseHeader& header) {
  return {header.revision(), header.raft_term()};
}

KeyValue to_kv(pb::KeyValue& kv) {
  return {std::move(*kv.mutable_key()), std::move(*kv.mutable_value()), kv.create_revision(),
          kv.mod_revision(), kv.lease()};
}

template <class Message>
bool parse(Message& message, std::string_view bytes) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

void fill(pb::TxnRequest& to, const Txn& txn);

void fill(pb::RequestOp& to, const Op& op) {
  std::visit(
      [&to](const auto& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, Range>) {
          pb::RangeRequest& range = *to.mutable_request_range();
          range.set_key(one.key);
          range.set_range_end(one.end);
          range.set_limit(one.limit);
          range.set_keys_only(one.keys_only);
          range.set_max_create_revision(one.max_create_revision);
          if (one.order != Range::Order::by_key) {
            range.set_sort_order(one.order == Range::Order::oldest_first ? 1 : 2);
            range.set_sort_target(2);
          }
        } else if constexpr (std::is_same_v<T, Put>) {
          pb::PutRequest& put = *to.mutable_request_put();
          put.set_key(one.key);
          put.set_value(one.value);
          put.set_lease(one.lease);
        } else if constexpr (std::is_same_v<T, Delete>) {
          to.mutable_request_delete_range()->set_key(one.key);
        } else {
          fill(*to.mutable_request_txn(), one.txn.front());
        }
      },
      op);
}

void fill(pb::TxnRequest& to, const Txn& txn) {
  for (const Born& born : txn.conditions) {
    pb::Compare& compare = *to.add_compare();
    compare.set_key(born.key);
    if (born.modified) {
      compare.set_target(2);
      compare.set_mod_revision(born.revision);
    } else {
      compare.set_target(1);
      compare.set_create_revision(born.revision);
    }
  }
  for (const Op& op : txn.then) fill(*to.add_success(), op);
  for (const Op& op : txn.otherwise) fill(*to.add_failure(), op);
}

TxnReply to_reply(pb::TxnResponse& from) {
  TxnReply reply;
  reply.header = to_header(from.header());
  reply.succeeded = from.succeeded();
  reply.ops.reserve(static_cast<std::size_t>(from.responses_size()));
  for (pb::ResponseOp& response : *from.mutable_responses()) {
    OpReply& op = reply.ops.emplace_back();
    if (response.has_response_range()) {
      for (pb::KeyValue& kv : *response.mutable_response_range()->mutable_kvs()) {
        op.kvs.push_back(to_kv(kv));
      }
    } else if (response.has_response_delete_range()) {
      op.deleted = response.response_delete_range().deleted();
    } else if (response.has_response_txn()) {
      op.nested.push_back(to_reply(*response.mutable_response_txn()));
    }
  }
  return reply;
}

}  // namespace

std::string encode(const Txn& txn) {
  pb::TxnRequest request;
  fill(request, txn);
  return request.SerializeAsString();
}

std::optional<TxnReply> decode_txn(std::string_view bytes) {
  pb::TxnResponse response;
  if (!parse(response, bytes)) return std::nullopt;
  return to_reply(response);
}

std::string encode_grant(LeaseId id, std::int64_t ttl_s) {
  pb::LeaseGrantRequest request;
  request.set_id(id);
  request.set_ttl(ttl_s);
  return request.SerializeAsString();
}

std::optional<LeaseReply> decode_grant(std::string_view bytes) {
  pb::LeaseGrantResponse response;
  if (!parse(response, bytes)) return std::nullopt;
  return LeaseReply{to_header(response.header()), to_ttl(response.ttl())};
}

std::string encode_revoke(LeaseId id) {
  pb::LeaseRevokeRequest request;
  request.set_id(id);
  return request.SerializeAsString();
}

std::optional<Header> decode_revoke(std::string_view bytes) {
  // Only its header is of interest, which is where a revoke's answer has it too.
  pb::PutResponse response;
  if (!parse(response, bytes)) return std::nullopt;
  return to_header(response.header());
}

std::string encode_keep_alive(LeaseId id) {
  pb::LeaseKeepAliveRequest request;
  request.set_id(id);
  return request.SerializeAsString();
}

std::optional<KeptAlive> decode_keep_alive(std::string_view bytes) {
  pb::LeaseKeepAliveResponse response;
  if (!parse(response, bytes)) return std::nullopt;
  return KeptAlive{response.id(), {to_header(response.header()), to_ttl(response.ttl())}};
}

std::string encode_time_to_live(LeaseId id, bool with_keys) {
  pb::LeaseTimeToLiveRequest request;
  request.set_id(id);
  request.set_keys(with_keys);
  return request.SerializeAsString();
}

std::optional<LeaseInfo> decode_time_to_live(std::string_view bytes) {
  pb::LeaseTimeToLiveResponse response;
  if (!parse(response, bytes)) return std::nullopt;
  // -1 is "no such lease"; its granted ttl is 0 then.
  LeaseInfo info{to_ttl(response.granted_ttl()), to_ttl(response.ttl())};
  for (std::string& key : *response.mutable_keys()) info.keys.push_back(std::move(key));
  return info;
}

std::string encode_watch(std::string_view key, std::string_view end, std::int64_t watch_id) {
  pb::WatchRequest request;
  pb::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(std::string(key));
  create.set_range_end(std::string(end));
  create.set_watch_id(watch_id);
  create.set_fragment(true);
  return request.SerializeAsString();
}

std::string encode_unwatch(std::int64_t watch_id) {
  pb::WatchRequest request;
  request.mutable_cancel_request()->set_watch_id(watch_id);
  return request.SerializeAsString();
}

std::optional<WatchAnswer> decode_watch(std::string_view bytes) {
  pb::WatchResponse response;
  if (!parse(response, bytes)) return std::nullopt;
  WatchAnswer answer;
  answer.watch_id = response.watch_id();
  answer.revision = response.header().revision();
  answer.created = response.created();
  answer.canceled = response.canceled();
  answer.reason = response.cancel_reason();
  answer.events.reserve(static_cast<std::size_t>(response.events_size()));
  for (pb::Event& event : *response.mutable_events()) {
    answer.events.push_back({event.type() == 1, to_kv(*event.mutable_kv())});
  }
  return answer;
}

std::string encode_authenticate(std::string_view user, std::string_view password) {
  pb::AuthenticateRequest request;
  request.set_name(std::string(user));
  request.set_password(std::string(password));
  return request.SerializeAsString();
}

std::optional<std::string> decode_authenticate(std::string_view bytes) {
  pb::AuthenticateResponse response;
  if (!parse(response, bytes)) return std::nullopt;
  return response.token();
}

std::string encode_status() { return {}; }

std::optional<MemberStatus> decode_status(std::string_view bytes) {
  pb::StatusResponse response;
  if (!parse(response, bytes)) return std::nullopt;
  return MemberStatus{response.version(), response.leader()};
}

}  // namespace tenure::etcd::codec
