// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/types.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenure::etcd {

/// What one watch of one election knows: a pure machine fed with reads and events.
///
///   waiting -> election            (watch everything under the election's prefix)
///   waiting -> place -> election   (watch our own key, our predecessor and the head)
///
/// Inputs: read() what a linearizable read showed, live() that a key is watched from a revision on,
/// event(). Outputs: wanted() what to watch, need() whether to read, take() what to tell.
///
/// Invariants:
///  - a state is told only if it was true at its as_of, except that a head of ours which vanished
///  is
///    told at once as "nobody": its owner must not wait for a read to learn that;
///  - as_of never goes back; an event that the read has seen already is ignored;
///  - every change after the first told state is either seen as an event or asked for by need():
///    there is no instant at which a key is neither watched nor about to be read;
///  - a waiter that is not next learns of a new head by a read that may take its time (a hand-over
///    wakes one waiter; the others look around later).
class View {
 public:
  enum class Scope { waiting, election, place };
  enum class Need { nothing, eventually, soon };

  struct Sight {
    std::optional<KeyValue> head;
    Revision as_of = 0;
    bool in_line = true;
  };

  /// `expects_place`: the watcher is a candidate; in_line is false while it has no place.
  View(std::string prefix, bool expects_place)
      : prefix_(std::move(prefix)), expects_place_(expects_place) {}

  /// Watch the whole election from now on.
  void watch_election();
  /// Watch from this place in line from now on. A read() of it follows.
  void watch_place(std::string own_key, Revision own_revision);

  /// All members at `revision`; in a place only those that matter: ourselves (if we are there), our
  /// predecessor and the head. Not `complete`: the predecessor is still to be read. Older than what
  /// is known: ignored.
  void read(Revision revision, const std::vector<KeyValue>& members, bool complete = true);
  /// `key` is the watched key, or the prefix.
  void live(const std::string& key, Revision revision);
  void event(const WatchEvent& event);

  [[nodiscard]] Scope scope() const noexcept { return scope_; }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] const std::string& own_key() const noexcept { return own_key_; }
  [[nodiscard]] Revision own_revision() const noexcept { return own_revision_; }
  /// The keys to watch; the prefix itself stands for everything under it.
  [[nodiscard]] std::vector<std::string> wanted() const;
  [[nodiscard]] Need need() const noexcept;
  /// The newest state, if it was not told yet.
  [[nodiscard]] std::optional<Sight> take();

 private:
  struct Told {
    std::string key{};
    Revision create_revision = 0;
    std::string value{};
    LeaseId lease = 0;
    bool in_line = true;

    bool operator==(const Told&) const = default;
  };

  void begin(Scope scope);
  void put(const KeyValue& kv);
  void remove(const std::string& key);
  void keep_what_matters();
  [[nodiscard]] const KeyValue* oldest() const noexcept;
  /// The one directly before us, of those that are known.
  [[nodiscard]] const KeyValue* predecessor() const noexcept;

  const std::string prefix_;
  const bool expects_place_;
  Scope scope_ = Scope::waiting;
  std::string own_key_;
  Revision own_revision_ = 0;
  std::map<std::string, KeyValue> members_;
  bool head_known_ = false;
  bool own_head_vanished_ = false;
  Revision read_at_ = 0;  // of the newest read of this scope
  Revision as_of_ = 0;    // of what is known
  std::map<std::string, Revision> live_;
  Need need_ = Need::nothing;
  bool again_ = true;  // tell the state whatever was told before
  std::optional<Told> told_;
};

}  // namespace tenure::etcd
