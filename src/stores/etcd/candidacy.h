// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/core.h"
#include "stores/etcd/keeper.h"
#include "stores/etcd/watching.h"

#include <string>
#include <vector>

namespace tenure::etcd {

/// acquire() and release(): into the line, to its head, and out of it. One request of a candidate
/// at a time, those of different candidates in one transaction where they meet.
///
/// To enter: one transaction puts the key, if it is not there, and reads the head of the line. Once
/// in line: a read of our own key, the head and our predecessor. `ours` is answered only when one
/// linearizable answer has shown our own key, with our lease and create revision, as the oldest,
/// and the lease may be counted on.
///
/// Thread-safety: everything on the loop.
class Candidacy {
 public:
  Candidacy(Core& core, Keeper& keeper, Watching& watching)
      : core_(core), keeper_(keeper), watching_(watching) {}

  void acquire(const AcquireRequest& request, const AskPtr<AcquireReply>& ask);
  void release(const ReleaseRequest& request, const AskPtr<ReleaseReply>& ask);

 private:
  /// One acquire on its way.
  struct Attempt {
    CandidatePtr candidate;
    AskPtr<AcquireReply> ask;
    Instant limit = kNever;
    int rounds = 0;
    bool looked = false;         ///< The last answer showed our predecessor too.
    bool looked_at_all = false;  ///< ... and everything below the prefix.
  };
  using AttemptPtr = std::shared_ptr<Attempt>;

  void take_turn(const CandidatePtr& candidate, Executor::Task turn);
  void end_turn(const CandidatePtr& candidate);
  void begin(const AttemptPtr& attempt);
  void enter(const AttemptPtr& attempt);
  void entered(const AttemptPtr& attempt, Result<TxnReply> reply);
  void look(const AttemptPtr& attempt);
  void looked(const AttemptPtr& attempt, Result<TxnReply> reply);
  void look_at_all(const AttemptPtr& attempt);
  void conclude(const AttemptPtr& attempt, const Header& header, Instant sent_at,
                const std::vector<KeyValue>& seen);
  void win(const AttemptPtr& attempt, const KeyValue& own);
  void wait_in_line(const AttemptPtr& attempt, const KeyValue& head);
  void discard_detached(const AttemptPtr& attempt, const KeyValue& own);
  void end(const AttemptPtr& attempt, Result<AcquireReply> reply);

  void leave(const CandidatePtr& candidate, Revision revision, Instant limit,
             const AskPtr<ReleaseReply>& ask);

  Core& core_;
  Keeper& keeper_;
  Watching& watching_;
};

}  // namespace tenure::etcd
