// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/core.h"

#include <functional>

namespace tenure::etcd {

/// Deletes `key` if it was created at `revision`; 0: whatever is there.
[[nodiscard]] Txn removal(const std::string& key, Revision revision);

/// Grants leases when they are first needed and keeps them alive as far as places in line need it.
/// Terms are kept alive by renewals only.
///
/// Thread-safety: everything on the loop.
class Keeper {
 public:
  using Ready = std::function<void(Result<void>)>;

  explicit Keeper(Core& core) : core_(core) {}

  /// The lease can take a new key: it is there, and not about to end. not_found: it is gone for
  /// good. May call `ready` at once.
  void ready(const LeasePtr& lease, Ready ready);
  /// Keeps the lease alive; what comes of it is in its machine. not_found as above.
  void keep(const LeasePtr& lease, Ready ready);
  /// Candidates came, went, or changed; sets the timer anew.
  void settle(const LeasePtr& lease);
  /// Takes a candidate's key away for good, in the background.
  void remove(const CandidatePtr& candidate);

 private:
  void grant(const LeasePtr& lease);
  void ask(const LeasePtr& lease);
  void answer(const LeasePtr& lease, const Result<void>& result);
  void tick(const LeasePtr& lease);
  void gone(const LeasePtr& lease);
  void drop_lapsed(const LeasePtr& lease);
  void audit(const LeasePtr& lease);

  Core& core_;
};

}  // namespace tenure::etcd
