// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/types.h"

/// One lease as a pure machine: what its owner may count on.
///
///   absent --granted--> alive --kept (ttl zero), lost--> gone
///
/// Inputs: the answers of grant and keepalive, and every linearizable answer that shows a key of
/// ours on this lease. Output: sent_at(), from which the ttl may be counted.
///
/// Invariants:
///  - a grant counts by itself: it went through the quorum;
///  - a keepalive counts only once a linearizable answer, to a request sent after the keepalive was
///    answered, has shown a key of ours with the same raft term. Before 3.4.31 and 3.5.13 a server
///    that has been deposed and does not know it answers keepalives with the full ttl; such a
///    leader's term is over, so nothing linearizable is answered in that term any more;
///  - sent_at() never goes back, and gone is for ever: another lease is another object.
namespace tenure::etcd {

class Lease {
 public:
  enum class State { absent, alive, gone };

  Lease(LeaseId id, std::int64_t ttl_s) noexcept : id_(id), ttl_s_(ttl_s) {}

  void granted(const LeaseReply& reply) noexcept;
  void kept(const LeaseReply& reply, Instant answered_at) noexcept;
  /// True: the newest keepalive counts (now, or since an earlier answer).
  bool shown(const Header& header, Instant sent_at) noexcept;
  void lost() noexcept { state_ = State::gone; }

  [[nodiscard]] LeaseId id() const noexcept { return id_; }
  [[nodiscard]] std::int64_t ttl_s() const noexcept { return ttl_s_; }  ///< As asked.
  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] Duration ttl() const noexcept { return ttl_; }  ///< As granted.
  [[nodiscard]] Instant sent_at() const noexcept { return sent_at_; }
  /// What the server will most likely do: counts the newest keepalive, confirmed or not.
  [[nodiscard]] Instant likely_until() const noexcept;
  /// Whether a keepalive is due before anything new is built on this lease.
  [[nodiscard]] bool is_stale(Instant now) const noexcept;
  /// When the next keepalive is due, to keep places in line.
  [[nodiscard]] Instant keep_at() const noexcept;

 private:
  struct Keep {
    Instant sent_at = kLongAgo;
    Instant answered_at = kLongAgo;
    std::uint64_t raft_term = 0;
    Duration ttl{};
    bool confirmed = true;
  };

  const LeaseId id_;
  const std::int64_t ttl_s_;
  State state_ = State::absent;
  Duration ttl_{};
  Instant sent_at_ = kLongAgo;
  Keep newest_;
};

}  // namespace tenure::etcd
