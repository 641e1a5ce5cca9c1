// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fake_etcd.pb.h"
#include "tests/stores/etcd/rig/error.h"

namespace tenure::test {

namespace pb = fake;

/// A gRPC status that the fake answers with.
class FakeStatus : public RigError {
 public:
  FakeStatus(int code, const std::string& message) : RigError(message), code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// What the fake member holds: keys with revisions, leases that never expire by themselves, and the
/// events so far. Only the present can be read. A naive twin of etcd, written from its description;
/// refusals are FakeStatus. Not thread-safe.
class FakeStore {
 public:
  struct Watched {
    std::int64_t revision = 0;
    pb::Event event;
  };

  pb::RangeResponse range(const pb::RangeRequest& request) const;
  pb::PutResponse put(const pb::PutRequest& request);
  pb::DeleteRangeResponse remove(const pb::DeleteRangeRequest& request);
  pb::TxnResponse txn(const pb::TxnRequest& request);

  pb::LeaseGrantResponse grant(const pb::LeaseGrantRequest& request);
  pb::LeaseRevokeResponse revoke(const pb::LeaseRevokeRequest& request);
  pb::LeaseKeepAliveResponse keep_alive(const pb::LeaseKeepAliveRequest& request) const;
  pb::LeaseTimeToLiveResponse time_to_live(const pb::LeaseTimeToLiveRequest& request) const;

  [[nodiscard]] std::int64_t revision() const noexcept { return revision_; }
  [[nodiscard]] const std::vector<Watched>& events() const noexcept { return events_; }
  [[nodiscard]] std::int64_t compacted() const noexcept { return compacted_; }
  void compact(std::int64_t revision) { compacted_ = revision; }
  /// As if the key had never been there: no revision, no event.
  void forget(std::string_view key);
  /// As if the lease had never been there; its keys stay.
  void forget_lease(std::int64_t lease) { leases_.erase(lease); }

  [[nodiscard]] static bool in_range(std::string_view key, std::string_view begin,
                                     std::string_view end);

 private:
  using Keys = std::map<std::string, pb::KeyValue, std::less<>>;

  pb::PutResponse put_at(std::int64_t revision, const pb::PutRequest& request);
  pb::DeleteRangeResponse remove_at(std::int64_t revision, const pb::DeleteRangeRequest& request);
  bool run(std::int64_t revision, const pb::TxnRequest& request, pb::TxnResponse& response);
  [[nodiscard]] bool holds(const pb::Compare& compare) const;
  void check_lease(std::int64_t lease) const;

  Keys keys_;
  std::map<std::int64_t, std::int64_t> leases_;  // and the ttl
  std::int64_t next_lease_ = 0x7000'0000'0000'0001;
  std::int64_t revision_ = 1;
  std::int64_t compacted_ = 0;
  std::vector<Watched> events_;
};

}  // namespace tenure::test
