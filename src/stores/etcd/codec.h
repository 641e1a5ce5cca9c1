// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/types.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Between values and the bytes that etcd speaks. Pure. A decoder gives nothing for bytes that are
/// not such a message.
namespace tenure::etcd::codec {

inline constexpr const char* kTxn = "/etcdserverpb.KV/Txn";
inline constexpr const char* kWatch = "/etcdserverpb.Watch/Watch";
inline constexpr const char* kGrant = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr const char* kRevoke = "/etcdserverpb.Lease/LeaseRevoke";
inline constexpr const char* kKeepAlive = "/etcdserverpb.Lease/LeaseKeepAlive";
inline constexpr const char* kTimeToLive = "/etcdserverpb.Lease/LeaseTimeToLive";
inline constexpr const char* kAuthenticate = "/etcdserverpb.Auth/Authenticate";
inline constexpr const char* kStatus = "/etcdserverpb.Maintenance/Status";

[[nodiscard]] std::string encode(const Txn& txn);
[[nodiscard]] std::optional<TxnReply> decode_txn(std::string_view bytes);

[[nodiscard]] std::string encode_grant(LeaseId id, std::int64_t ttl_s);
[[nodiscard]] std::optional<LeaseReply> decode_grant(std::string_view bytes);
[[nodiscard]] std::string encode_revoke(LeaseId id);
[[nodiscard]] std::optional<Header> decode_revoke(std::string_view bytes);
[[nodiscard]] std::string encode_keep_alive(LeaseId id);
struct KeptAlive {
  LeaseId id = 0;
  LeaseReply reply;
};
[[nodiscard]] std::optional<KeptAlive> decode_keep_alive(std::string_view bytes);
[[nodiscard]] std::string encode_time_to_live(LeaseId id, bool with_keys);
[[nodiscard]] std::optional<LeaseInfo> decode_time_to_live(std::string_view bytes);

[[nodiscard]] std::string encode_watch(std::string_view key, std::string_view end,
                                       std::int64_t watch_id);
[[nodiscard]] std::string encode_unwatch(std::int64_t watch_id);
struct WatchAnswer {
  std::int64_t watch_id = 0;
  Revision revision = 0;
  bool created = false;
  bool canceled = false;
  std::string reason;
  std::vector<WatchEvent> events;
};
[[nodiscard]] std::optional<WatchAnswer> decode_watch(std::string_view bytes);

[[nodiscard]] std::string encode_authenticate(std::string_view user, std::string_view password);
[[nodiscard]] std::optional<std::string> decode_authenticate(std::string_view bytes);  // the token

struct MemberStatus {
  std::string version;
  std::uint64_t leader = 0;  ///< 0: this member knows none.
};
[[nodiscard]] std::string encode_status();
[[nodiscard]] std::optional<MemberStatus> decode_status(std::string_view bytes);

}  // namespace tenure::etcd::codec
