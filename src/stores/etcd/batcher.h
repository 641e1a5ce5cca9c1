// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/types.h"

#include <tenure/executor.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tenure::etcd {

/// Several small transactions sent as one, pure: how they are packed and the answer is unpacked.
///
/// Reads are put side by side. Writes become transactions within one, since each has a condition of
/// its own. (A nested one makes the whole a write, so the two are never mixed.) All keys created by
/// one transaction have the same create revision; so two items with the same `election`, in which
/// that would be a tie, never share one.
struct BatchItem {
  Txn txn;
  std::string election;
  Instant limit = kNever;
  Done<TxnReply> done;
};

/// etcd takes 128 operations at each level, and counts those of the level above too.
inline constexpr std::size_t kMostOperations = 120;

/// Takes from the front of `queue` what fits into one transaction. `queue` is not empty.
[[nodiscard]] std::vector<BatchItem> take_batch(std::deque<BatchItem>& queue, bool reads);
[[nodiscard]] Txn pack(const std::vector<BatchItem>& items, bool reads);
/// One answer for each item; nothing if the answer does not fit the items.
[[nodiscard]] std::vector<TxnReply> unpack(const std::vector<BatchItem>& items, bool reads,
                                           TxnReply reply);

/// Collects what is asked for in one round of the loop, and while others are in flight.
/// Thread-safety: everything on the loop.
class Batcher {
 public:
  enum class Mode { reads, writes };

  Batcher(Cluster& cluster, Executor& executor, Mode mode);
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;
  ~Batcher() = default;

  void add(Txn txn, std::string election, Instant limit, Done<TxnReply> done);

 private:
  struct State;
  static void flush(const std::shared_ptr<State>& state);
  static void send(const std::shared_ptr<State>& state, std::vector<BatchItem> items);
  static void answer(const std::shared_ptr<State>& state, std::vector<BatchItem> items,
                     Result<TxnReply> reply);

  std::shared_ptr<State> state_;
};

}  // namespace tenure::etcd
