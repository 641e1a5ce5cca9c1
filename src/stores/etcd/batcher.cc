// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/batcher.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

namespace tenure::etcd {
namespace {

// Enough to keep a disk busy; more only makes batches smaller.
constexpr std::size_t kMostInFlight = 4;

// One whose fault may be one item's alone.
bool may_be_one_items_fault(Errc code) noexcept {
  return code == Errc::permission_denied || code == Errc::invalid_argument ||
         code == Errc::not_found;
}

std::size_t weight(const BatchItem& item, bool reads) noexcept {
  return reads ? item.txn.then.size() : 1;
}

}  // namespace

std::vector<BatchItem> take_batch(std::deque<BatchItem>& queue, bool reads) {
  std::vector<BatchItem> items;
  std::deque<BatchItem> later;
  std::unordered_set<std::string> elections;
  std::size_t operations = 0;
  while (!queue.empty()) {
    const std::size_t more = weight(queue.front(), reads);
    if (operations + more > kMostOperations && !items.empty()) break;
    BatchItem item = std::move(queue.front());
    queue.pop_front();
    if (!reads && !item.election.empty() && !elections.insert(item.election).second) {
      later.push_back(std::move(item));
      continue;
    }
    operations += more;
    items.push_back(std::move(item));
  }
  queue.insert(queue.begin(), std::make_move_iterator(later.begin()),
               std::make_move_iterator(later.end()));
  return items;
}

Txn pack(const std::vector<BatchItem>& items, bool reads) {
  if (items.size() == 1) return items.front().txn;
  Txn txn;
  for (const BatchItem& item : items) {
    if (reads) {
      txn.then.insert(txn.then.end(), item.txn.then.begin(), item.txn.then.end());
    } else {
      txn.then.emplace_back(Nested{{item.txn}});
    }
  }
  return txn;
}

std::vector<TxnReply> unpack(const std::vector<BatchItem>& items, bool reads, TxnReply reply) {
  std::vector<TxnReply> replies;
  if (items.size() == 1) {
    replies.push_back(std::move(reply));
    return replies;
  }
  auto next = reply.ops.begin();
  for (const BatchItem& item : items) {
    const auto wanted = static_cast<std::ptrdiff_t>(weight(item, reads));
    if (std::distance(next, reply.ops.end()) < wanted) return {};
    TxnReply one;
    if (reads) {
      one.succeeded = true;
      one.ops.assign(std::make_move_iterator(next), std::make_move_iterator(next + wanted));
    } else {
      if (next->nested.size() != 1) return {};
      one = std::move(next->nested.front());
    }
    // That of a nested transaction is not filled in.
    one.header = reply.header;
    one.sent_at = reply.sent_at;
    replies.push_back(std::move(one));
    next += wanted;
  }
  return replies;
}

struct Batcher::State {
  State(Cluster& to, Executor& on, bool only_reads)
      : cluster(to), executor(on), reads(only_reads) {}

  Cluster& cluster;
  Executor& executor;
  const bool reads;
  std::deque<BatchItem> queue;
  std::size_t in_flight = 0;
  bool flushing = false;
};

Batcher::Batcher(Cluster& cluster, Executor& executor, Mode mode)
    : state_(std::make_shared<State>(cluster, executor, mode == Mode::reads)) {}

void Batcher::add(Txn txn, std::string election, Instant limit, Done<TxnReply> done) {
  state_->queue.push_back({std::move(txn), std::move(election), limit, std::move(done)});
  if (std::exchange(state_->flushing, true)) return;
  state_->executor.post([weak = std::weak_ptr(state_)] {
    const auto state = weak.lock();
    if (state == nullptr) return;
    state->flushing = false;
    flush(state);
  });
}

void Batcher::flush(const std::shared_ptr<State>& state) {
  while (!state->queue.empty() && state->in_flight < kMostInFlight) {
    send(state, take_batch(state->queue, state->reads));
  }
}

void Batcher::send(const std::shared_ptr<State>& state, std::vector<BatchItem> items) {
  ++state->in_flight;
  Instant limit = kLongAgo;
  for (const BatchItem& item : items) limit = std::max(limit, item.limit);
  Txn txn = pack(items, state->reads);
  auto kept = std::make_shared<std::vector<BatchItem>>(std::move(items));
  state->cluster.txn(std::move(txn), limit, [weak = std::weak_ptr(state), kept](auto reply) {
    const auto alive = weak.lock();
    if (alive == nullptr) return;
    --alive->in_flight;
    answer(alive, std::move(*kept), std::move(reply));
    flush(alive);
  });
}

void Batcher::answer(const std::shared_ptr<State>& state, std::vector<BatchItem> items,
                     Result<TxnReply> reply) {
  if (reply) {
    auto replies = unpack(items, state->reads, std::move(*reply));
    if (replies.size() == items.size()) {
      for (std::size_t i = 0; i < items.size(); ++i) items[i].done(std::move(replies[i]));
      return;
    }
    reply = fail(Errc::corrupt, "etcd's answer does not fit the transaction");
  }
  // A refused transaction has changed nothing, so each item may be tried by itself.
  if (items.size() > 1 && may_be_one_items_fault(reply.error().code)) {
    for (BatchItem& item : items) {
      std::vector<BatchItem> alone;
      alone.push_back(std::move(item));
      send(state, std::move(alone));
    }
    return;
  }
  for (BatchItem& item : items) item.done(tl::unexpected(reply.error()));
}

}  // namespace tenure::etcd
