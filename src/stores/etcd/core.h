// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/asks.h"
#include "stores/etcd/batcher.h"
#include "stores/etcd/keys.h"
#include "stores/etcd/roster.h"
#include "stores/etcd/types.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenure::etcd {

/// What the parts of a store object share.
struct Core {
  Core(std::unique_ptr<Cluster> to, Executor& on, std::string prefix)
      : executor(on),
        cluster(std::move(to)),
        roster(std::move(prefix),
               [this] {
                 // Positive and never 0: 0 means "choose one".
                 return static_cast<LeaseId>((executor.random() >> 1U) | 1U);
               }),
        asks(on, [this] { return cluster->trouble(); }),
        writes(*cluster, on, Batcher::Mode::writes),
        reads(*cluster, on, Batcher::Mode::reads) {}

  [[nodiscard]] Instant now() const { return executor.clock().now(); }
  [[nodiscard]] std::string prefix_of(std::string_view election) const {
    return election_prefix(roster.prefix(), election);
  }
  [[nodiscard]] Range members(std::string_view election) const {
    std::string prefix = prefix_of(election);
    std::string end = end_of_prefix(prefix);
    return {std::move(prefix), std::move(end)};
  }
  [[nodiscard]] Range head(std::string_view election) const {
    Range range = members(election);
    range.order = Range::Order::oldest_first;
    range.limit = 1;
    return range;
  }

  /// A member as a record; one of ours under its own session.
  [[nodiscard]] Record record(std::string_view election, const KeyValue& kv) const {
    Record record = to_record(election, kv);
    const auto candidate = roster.find_key(kv.key);
    if (candidate == nullptr || candidate->lease->machine.id() != kv.lease) return record;
    record.session = candidate->session;
    record.ttl = candidate->lease->machine.ttl();
    record.expires_at = saturating_add(candidate->lease->machine.sent_at(), record.ttl);
    return record;
  }

  Executor& executor;
  std::unique_ptr<Cluster> cluster;
  Roster roster;
  Asks asks;
  Batcher writes;
  Batcher reads;
  bool closed = false;
};

}  // namespace tenure::etcd
