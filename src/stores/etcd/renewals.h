// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/core.h"
#include "stores/etcd/keeper.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace tenure::etcd {

/// renew(): all renewals of one lease that are asked for in one round of the loop, or while another
/// round is under way, are served by one keepalive and one linearizable read. (etcd takes 128
/// comparisons in one transaction; beyond that there is one read for each hundred.)
///
/// Thread-safety: everything on the loop.
class Renewals {
 public:
  Renewals(Core& core, Keeper& keeper) : core_(core), keeper_(keeper) {}

  void renew(const RenewRequest& request, const AskPtr<RenewReply>& ask);

 private:
  struct One {
    CandidatePtr candidate;
    Revision revision = 0;
    Instant limit = kNever;
    AskPtr<RenewReply> ask;
  };
  using Many = std::vector<One>;
  struct Round {
    Many waiting;
    bool under_way = false;
    bool unsure = false;  ///< Some of `waiting` were not confirmed by the read.
    std::unique_ptr<Executor::Handle> pause{};
  };

  void begin(const LeasePtr& lease);
  void check(const LeasePtr& lease, const std::shared_ptr<Many>& many);
  void checked(const LeasePtr& lease, Many part, Result<TxnReply> reply);
  void next(const LeasePtr& lease);
  void held(const LeasePtr& lease, const One& one);
  void not_held(const std::string& election, Instant limit, const AskPtr<RenewReply>& ask);
  void fail_all(const Many& many, const Error& error);

  Core& core_;
  Keeper& keeper_;
  std::unordered_map<LeasePtr, Round> rounds_;
};

}  // namespace tenure::etcd
