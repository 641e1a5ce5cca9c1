// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/lease.h"

#include <algorithm>

namespace tenure::etcd {

void Lease::granted(const LeaseReply& reply) noexcept {
  if (state_ != State::absent) return;
  state_ = State::alive;
  ttl_ = reply.ttl;
  sent_at_ = reply.sent_at;
  newest_ = {reply.sent_at, reply.sent_at, reply.header.raft_term, reply.ttl, true};
}

void Lease::kept(const LeaseReply& reply, Instant answered_at) noexcept {
  if (state_ == State::gone) return;
  if (reply.ttl <= Duration::zero()) {
    state_ = State::gone;
    return;
  }
  if (state_ == State::alive && reply.sent_at < newest_.sent_at) return;
  // Granted by a request whose answer was lost: alive, but what may be counted on is not known yet.
  state_ = State::alive;
  if (ttl_ == Duration::zero()) ttl_ = reply.ttl;
  newest_ = {reply.sent_at, answered_at, reply.header.raft_term, reply.ttl, false};
}

bool Lease::shown(const Header& header, Instant sent_at) noexcept {
  if (state_ != State::alive) return false;
  if (newest_.confirmed) return true;
  if (header.raft_term != newest_.raft_term || sent_at < newest_.answered_at) return false;
  newest_.confirmed = true;
  sent_at_ = std::max(sent_at_, newest_.sent_at);
  ttl_ = newest_.ttl;
  return true;
}

Instant Lease::likely_until() const noexcept {
  return saturating_add(newest_.sent_at, newest_.ttl);
}

bool Lease::is_stale(Instant now) const noexcept {
  return saturating_between(newest_.sent_at, now) > newest_.ttl / 2;
}

Instant Lease::keep_at() const noexcept { return saturating_add(newest_.sent_at, newest_.ttl / 3); }

}  // namespace tenure::etcd
