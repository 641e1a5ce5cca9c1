// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/time.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure {

/// One holding of an election as the store knows it.
struct Record {
  std::string election;        ///< The election's name.
  std::string id;              ///< What people call the holder. Never decides ownership.
  std::string session;         ///< Unique per incarnation of a candidate. Decides ownership...
  std::uint64_t revision = 0;  ///< ...together with this: the store's number of the record's birth.
  std::uint64_t token = 0;     ///< Fencing token: larger in every later term of the same election.
  Duration ttl{};              ///< As granted by the store.
  /// When the term began and when it will end unless it is renewed, as far as this store can tell,
  /// on the local boot clock. For display, and kLongAgo / kNever where it cannot tell.
  Instant acquired_at = kLongAgo;
  Instant expires_at = kNever;
  /// Changes with every renewal, for stores whose observers judge expiry; else constant.
  std::uint64_t renewal = 0;

  bool operator==(const Record&) const = default;
};

/// An election at one moment.
struct ElectionState {
  std::string election;
  /// Who holds it; nobody if it is free, released or (where the store judges that) expired.
  std::optional<Record> holder;
  /// The store's revision at which this was true. Later states have larger or equal numbers; a
  /// state older than one's own record says nothing about that record.
  std::uint64_t as_of = 0;
  /// Stores with a queue: whether the watching candidate's own entry still stands in line (or
  /// holds). Without a queue always true.
  bool in_line = true;

  bool operator==(const ElectionState&) const = default;
};

/// Who judges that a record which is no longer renewed has ended.
enum class ExpiryBy {
  /// The store: it stops showing the record. A candidate waits to be told.
  store,
  /// Every observer, by its own clock: ttl x (1 + drift) after it saw the last change.
  observers,
};

/// What a store is like. Constant for the life of a store object.
struct StoreTraits {
  std::string kind;  ///< "memory", "sqlite", "etcd": as in the URL.
  ExpiryBy expiry = ExpiryBy::store;
  bool has_queue = false;  ///< Candidates are served in order of arrival.
  Duration min_ttl = std::chrono::milliseconds(100);  ///< A smaller ttl is invalid_argument.
  /// A session's name is known only to the store object that acquired with it, and only there it
  /// can be released; others are shown a name of the store's own, as unique.
  bool private_sessions = false;
};

/// Every request carries `limit`: the instant by which the store must have answered, if need be
/// with Errc::unavailable (surely nothing was changed) or Errc::outcome_unknown.
struct AcquireRequest {
  std::string election;
  std::string id;
  std::string session;
  Duration ttl{};
  Instant limit = kNever;
  /// For ExpiryBy::observers: the caller has judged the record with this revision and renewal to
  /// have ended; it may be replaced if it is still the same.
  std::optional<Record> judged_expired{};
};

struct AcquireReply {
  /// True: `record` is ours, granted, and (with a queue) the oldest: one linearizable answer said
  /// so. Repeating an acquire with a session that holds gives the same record again.
  bool ours = false;
  /// Ours, or the present holder's; empty when `ours` is false and nobody holds (ask again).
  std::optional<Record> record{};
  /// When the request that bought this term was sent: validity counts from here, never from the
  /// answer. Meaningful when `ours`.
  Instant sent_at = kLongAgo;
  /// With a queue: our entry stands in line, and the watch will say when its turn has come.
  bool in_line = false;
};

struct RenewRequest {
  Record record;  ///< Ours, as acquire gave it: session and revision must match.
  Duration ttl{};
  Instant limit = kNever;
};

struct RenewReply {
  /// False: the record is gone. Not an error of the request: the term has ended.
  bool held = false;
  Duration ttl{};                  ///< As granted now; may differ from what was asked.
  Instant sent_at = kLongAgo;      ///< Of the request that did it; one may serve many records.
  std::optional<Record> holder{};  ///< When not held: who holds now, if anybody.
};

struct ReleaseRequest {
  std::string election;
  std::string session;
  /// The incarnation meant. 0: whatever this session has there, holding or in line (to clean up
  /// after an acquire whose outcome is unknown).
  std::uint64_t revision = 0;
  Instant limit = kNever;
};

struct ReleaseReply {
  /// False: no record of that incarnation was there; nothing was changed.
  bool released = false;
};

struct WatchRequest {
  /// Which election; empty: every election of the store, one ElectionState each.
  std::string election;
  /// The watching candidate's session, for `in_line`; may be empty.
  std::string session{};
};

struct ListRequest {
  std::string election;  ///< Empty: all that the store knows, free ones too.
  Instant limit = kNever;
};

/// A running watch. Destroy it on the loop to end it; no call comes after that.
class Watch {
 public:
  virtual ~Watch() = default;
};

/// Takes the answer to one request. Called exactly once, on the executor's loop, never from within
/// the call that made the request.
template <class T>
using Completion = std::function<void(Result<T>)>;

/// A store of lock records: the contract that every engine keeps and that the conformance suite in
/// testkit holds, sentence by sentence (docs/store-contract.md).
///
/// Names, ids and sessions follow check_name().
///
/// Errors of every verb: unavailable (retry), outcome_unknown (find out first), unauthenticated,
/// permission_denied, conflict, not_found, invalid_argument (a name, id or ttl outside the rules),
/// unsupported, corrupt, closed. After close() every verb answers Errc::closed.
///
/// A store never acts on its own: no verb repeats another, nothing is renewed that was not asked
/// for, a crashed caller leaves a record that ends by its ttl (or at once, where the store can tell
/// that its session is dead).
///
/// Thread-safety: call everything on the executor's loop, except traits() and inherited_fd().
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;

  [[nodiscard]] virtual const StoreTraits& traits() const noexcept = 0;

  /// Makes the session the holder if nobody holds, or joins the line. Exactly one of any number of
  /// concurrent callers gets `ours`. The token is durable before the answer comes. Repeated by a
  /// session that holds it answers with the same record, which then holds until sent_at + ttl at
  /// least. A place in line is kept for as long as the store object is open.
  virtual void acquire(AcquireRequest request, Completion<AcquireReply> done) = 0;

  /// Prolongs a record that is still ours; never revives one that has ended.
  virtual void renew(RenewRequest request, Completion<RenewReply> done) = 0;

  /// Ends the named incarnation, and no other. Repeating it is harmless.
  virtual void release(ReleaseRequest request, Completion<ReleaseReply> done) = 0;

  /// Gives the present state first, then every later state of `holder` and `in_line` in order
  /// (states in between may be left out, the newest never is); after a gap the present state again.
  /// Renewals are not reported, unless observers judge expiry. Ends only with an error value, or by
  /// destroying the Watch.
  [[nodiscard]] virtual std::unique_ptr<Watch> watch(
      WatchRequest request, std::function<void(Result<ElectionState>)> on_state) = 0;

  /// The present states, ordered by name; an election without a record may be left out or shown as
  /// free. Read-only: creates nothing, joins nothing.
  virtual void list(ListRequest request, Completion<std::vector<ElectionState>> done) = 0;

  /// Ends every watch with Errc::closed, answers what is in flight, then calls `done`. Records that
  /// are still held are left to their ttl: closing is not releasing. Twice: `done` is called again.
  /// Destroying an open store is as closing it.
  virtual void close(std::function<void()> done) = 0;

  /// A descriptor that keeps this store's sessions alive while any process has it open: let a child
  /// inherit it, and the election is not free before that child is gone (or the ttl judges it).
  /// -1 if the store has no such thing. Owned by the store.
  [[nodiscard]] virtual int inherited_fd() const noexcept { return -1; }
};

/// Checks a name (or an id) against the rules that hold in every store: 1 to 255 bytes, valid
/// UTF-8, no control character (so no NUL, no newline). `what` names the value in the message.
/// Thread-safe. invalid_argument says which rule was broken.
[[nodiscard]] Result<void> check_name(std::string_view what, std::string_view value);

}  // namespace tenure
