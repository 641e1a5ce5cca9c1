// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/core.h"
#include "stores/etcd/view.h"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tenure::etcd {

/// What a candidate in line reads: its own key, the head and its predecessor.
[[nodiscard]] std::vector<Op> place_reads(const Core& core, const Candidate& candidate);
/// Everything that a read transaction showed, each key once.
[[nodiscard]] std::vector<KeyValue> all_of(const TxnReply& reply);

class BaseWatch;
class OneWatch;

/// watch(): keeps each view's keys watched, reads for it, and tells its user.
///
/// Thread-safety: everything on the loop.
class Watching {
 public:
  using OnState = std::function<void(Result<ElectionState>)>;

  explicit Watching(Core& core) : core_(core) {}

  [[nodiscard]] std::unique_ptr<Watch> watch(WatchRequest request, OnState on_state);
  /// A watch that ends with `error` at once.
  [[nodiscard]] std::unique_ptr<Watch> refused(OnState on_state, Error error);
  /// An acquire showed this candidate in line; `complete`: with its predecessor.
  void placed(const CandidatePtr& candidate, Revision revision, const std::vector<KeyValue>& seen,
              bool complete);
  /// A request of a candidate of this election has ended, or its place.
  void changed(const std::string& election);
  void close(const Error& error);
  /// Of the watches: forgets this one.
  void forget(const BaseWatch* watch);

 private:
  std::unique_ptr<Watch> start(const std::shared_ptr<BaseWatch>& watch);
  void look_at_changed();

  Core& core_;
  std::unordered_map<const BaseWatch*, std::shared_ptr<BaseWatch>> watches_;
  std::unordered_map<std::string, std::vector<std::shared_ptr<OneWatch>>> by_election_;
  std::unordered_set<std::string> changed_;
  std::unique_ptr<Executor::Handle> changed_timer_;
};

}  // namespace tenure::etcd
