// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

/// etcd's key-value world as plain values: what the store logic asks and is told, without gRPC or
/// Protobuf, so that it can be tested against a toy server.
namespace tenure::etcd {

using LeaseId = std::int64_t;
using Revision = std::int64_t;

/// Of the answer: where the cluster stood.
struct Header {
  Revision revision = 0;
  std::uint64_t raft_term = 0;
};

struct KeyValue {
  std::string key;
  std::string value;
  Revision create_revision = 0;
  Revision mod_revision = 0;
  LeaseId lease = 0;

  bool operator==(const KeyValue&) const = default;
};

/// Reads [key, end), or only `key` when `end` is empty.
struct Range {
  enum class Order { by_key, oldest_first, newest_first };

  std::string key;
  std::string end{};
  Order order = Order::by_key;
  std::int64_t limit = 0;            ///< 0: all.
  Revision max_create_revision = 0;  ///< 0: all.
  bool keys_only = false;
};

struct Put {
  std::string key;
  std::string value;
  LeaseId lease = 0;
};

struct Delete {
  std::string key;
};

/// The key's create revision (or its mod revision) is this; an absent key has 0.
struct Born {
  std::string key;
  Revision revision = 0;
  bool modified = false;  ///< Compares the mod revision.
};

struct Txn;
/// A transaction within a transaction: exactly one element.
struct Nested {
  std::vector<Txn> txn;
};
using Op = std::variant<Range, Put, Delete, Nested>;

/// If all of `conditions` hold, `then`, else `otherwise`; at one revision.
///
/// A transaction without any range among its operations, or with only serializable ones, is
/// answered by etcd without asking the quorum. Every read-only one here has a range, and all
/// ranges are linearizable.
struct Txn {
  std::vector<Born> conditions;
  std::vector<Op> then;
  std::vector<Op> otherwise;
};

struct TxnReply;
struct OpReply {
  std::vector<KeyValue> kvs;     ///< Of a range.
  std::int64_t deleted = 0;      ///< Of a delete.
  std::vector<TxnReply> nested;  ///< Of a nested transaction: one element.
};

struct TxnReply {
  Header header;
  bool succeeded = false;
  std::vector<OpReply> ops;
  Instant sent_at = kLongAgo;  ///< Before the request that was answered was sent.
};

/// A lease granted or kept alive. ttl zero: there is no such lease (any more).
struct LeaseReply {
  Header header;
  Duration ttl{};
  Instant sent_at = kLongAgo;
};

struct LeaseInfo {
  Duration granted{};  ///< Zero: there is no such lease.
  Duration left{};     ///< Whole seconds, rounded down.
  std::vector<std::string> keys{};
};

struct WatchEvent {
  bool deleted = false;
  KeyValue kv;  ///< A deletion has only key and mod_revision, the revision of the event.
};

/// Hears of a range of keys.
class KeyListener {
 public:
  virtual ~KeyListener() = default;
  /// From here on no change after `revision` is missed. Called again after every gap: what happened
  /// in between must be read.
  virtual void on_live(Revision revision) = 0;
  /// In order. The listener may end its subscription, or any other, here.
  virtual void on_event(const WatchEvent& event) = 0;
  /// The server refuses; nothing comes after this.
  virtual void on_refused(const Error& error) = 0;
};

/// Ends the subscription when destroyed.
class Subscription {
 public:
  virtual ~Subscription() = default;
};

template <class T>
using Done = std::function<void(Result<T>)>;

/// An etcd cluster as the store logic sees it.
///
/// Each request is answered exactly once, by its limit, never from within the call; after close()
/// with Errc::closed. Errors beyond those of the store contract: not_found (no such lease) and
/// conflict (a lease with this id exists). unavailable always means: nothing was changed.
/// Requests that may have taken effect are not repeated, but outcome_unknown.
///
/// Thread-safety: everything on the executor's loop.
class Cluster {
 public:
  virtual ~Cluster() = default;

  virtual void txn(Txn txn, Instant limit, Done<TxnReply> done) = 0;
  /// Repeats itself after a failure, with the same id: a grant is no lock.
  virtual void grant(LeaseId id, std::int64_t ttl_s, Instant limit, Done<LeaseReply> done) = 0;
  virtual void keep_alive(LeaseId id, Instant limit, Done<LeaseReply> done) = 0;
  virtual void revoke(LeaseId id, Instant limit, Done<Header> done) = 0;
  virtual void time_to_live(LeaseId id, bool with_keys, Instant limit, Done<LeaseInfo> done) = 0;
  [[nodiscard]] virtual std::unique_ptr<Subscription> watch(std::string key, std::string end,
                                                            KeyListener& listener) = 0;
  virtual void close() = 0;
  /// Why nothing can be sent at the moment; empty if it can.
  [[nodiscard]] virtual std::string trouble() const = 0;
};

}  // namespace tenure::etcd
