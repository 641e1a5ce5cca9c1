// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"
#include "core/election/election.h"
#include "core/final_error.h"
#include "core/validity.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tenure::core {

namespace {

Error went_back(const Record& record, std::uint64_t revision, std::uint64_t token) {
  const auto pair = [](std::uint64_t a, std::uint64_t b) {
    return "revision " + std::to_string(a) + ", token " + std::to_string(b);
  };
  return {Errc::corrupt, "the store granted " + pair(record.revision, record.token) + " after " +
                             pair(revision, token) +
                             ": it has gone back in time (restored from a backup?); this candidate "
                             "does not lead on it"};
}

}  // namespace

void ElectionMachine::stand(Instant now) {
  TENURE_CHECK(!term_ && !work_running_ && !mine_);
  phase_ = Phase::standing;
  standing_since_ = now;
  tried_ = false;
  in_line_ = false;
  pause_until_ = kNever;
  try_at_ = now;
}

void ElectionMachine::settle_standing(Instant now) {
  if (phase_ == Phase::pausing && now >= pause_until_) stand(now);
  if (phase_ != Phase::standing) return;
  if (stopping_) {
    stop_standing(now);
    return;
  }
  if (tried_ && now >= give_up_at()) {
    give_up(outage_.ongoing().value_or(Error{
                Errc::timed_out, holder_.empty() ? "not elected in time"
                                                 : "not elected in time: " + holder_ + " leads"}),
            now);
    stop_standing(now);
    return;
  }
  if (request_ == Request::none && !mine_ && !to_release_ && now >= try_at_) send_acquire(now);
}

void ElectionMachine::give_up(Error error, Instant now) {
  TENURE_CHECK(!stopping_ && phase_ == Phase::standing);
  gave_up_ = std::move(error);
  stopping_ = true;
  stop_limit_ = saturating_add(now, config_.timing.request_limit);
}

void ElectionMachine::acquired(const AcquireReply& reply, Instant now) {
  tried_ = true;
  if (!reply.record || reply.record->session != config_.session || reply.record->revision == 0 ||
      reply.record->token == 0) {
    note_failure({Errc::corrupt,
                  "the store granted a record that is not this session's, or without a number"},
                 now);
    try_at_ = saturating_add(now, backoff(failures_));
    return;
  }
  observed_.reset();
  if (reply.record->revision <= last_revision_ || reply.record->token <= last_token_) {
    refuse_stale(*reply.record, now);
    return;
  }
  note_success();
  mine_ = reply.record;
  record_until_ = kLongAgo;
  if (stopping_) return;
  if (uncertain_ || strays_) {
    renew_at_ = now;
    return;
  }
  grant(reply.sent_at, mine_->ttl, now);
  announce_if_fresh(now);
}

void ElectionMachine::refuse_stale(const Record& record, Instant now) {
  // The record of a term that has ended here: a new term needs a new record.
  const bool left_over = record.revision == last_revision_;
  if (!left_over) note_failure(went_back(record, last_revision_, last_token_), now);
  to_release_ = record.revision;
  // A store that hands it out again and again is not asked faster and faster.
  release_at_ = now;
  if (!left_over || stale_grants_ > 0) release_at_ = saturating_add(now, backoff(stale_grants_));
  if (stale_grants_ == 0) stale_grants_ = 1;
}

void ElectionMachine::acquire_failed(const Error& error, Instant now) {
  tried_ = true;
  note_failure(error, now);
  if (error.code == Errc::outcome_unknown || error.code == Errc::timed_out) {
    uncertain_ = true;
    strays_ = true;
  }
  if (error.code == Errc::closed) {
    finish(error);
    return;
  }
  if (is_final(error.code) && !stopping_) give_up(error, now);
  try_at_ = saturating_add(now, backoff(failures_));
}

void ElectionMachine::held_by_other(const AcquireReply& reply, Instant now) {
  note_success();
  tried_ = true;
  in_line_ = reply.in_line;
  if (vacancy_seen_) {
    try_at_ = now;
    return;
  }
  if (!reply.record && !reply.in_line) {
    try_at_ = saturating_add(now, backoff(failures_));
    return;
  }
  failures_ = 0;
  note_holder(reply.record);
  // The watch tells of a vacancy; this is the net under it, wide enough to cost nothing.
  const Duration ttl = config_.timing.ttl;
  const auto spread = static_cast<std::uint64_t>(ttl.count());
  const Duration net = ttl + Duration(static_cast<Duration::rep>(rng_.up_to(spread)));
  try_at_ = watching_ ? saturating_add(now, net) : watch_retry_at_;
  if (reply.record) observe(*reply.record, now);
}

void ElectionMachine::standing_sees(const ElectionState& state, Instant now) {
  if (!state.holder) {
    try_soon(now);
    return;
  }
  if (state.holder->session == config_.session) {
    // Either our turn in the line has come, or an acquire took effect whose answer we never saw.
    if (!in_line_) uncertain_ = true;
    try_soon(now);
    return;
  }
  vacancy_seen_ = false;
  if (in_line_ && !state.in_line) {
    in_line_ = false;
    try_soon(now);
  }
  observe(*state.holder, now);
}

void ElectionMachine::observe(const Record& holder, Instant now) {
  if (config_.expiry != ExpiryBy::observers) return;
  const bool changed = !observed_ || observed_->session != holder.session ||
                       observed_->revision != holder.revision ||
                       observed_->renewal != holder.renewal;
  if (changed) {
    observed_ = holder;
    // All who watch judge at the same instant; they need not all ask at the same instant.
    const auto spread = static_cast<std::uint64_t>(config_.options.retry_first.count());
    observed_ends_ = saturating_add(surely_ended(now, holder.ttl, timing_.drift),
                                    Duration(static_cast<Duration::rep>(rng_.up_to(spread))));
  }
  // Judged already and refused all the same: that does not become due at once again.
  if (request_ == Request::none && observed_ends_ > now)
    try_at_ = std::min(try_at_, observed_ends_);
}

void ElectionMachine::try_soon(Instant now) {
  if (request_ == Request::acquire) {
    vacancy_seen_ = true;
  } else {
    try_at_ = now;
  }
}

bool ElectionMachine::another_leads(const ElectionState& state) const noexcept {
  // A late state from our own term, or from before it, does not say that another was elected.
  return state.holder && state.holder->session != config_.session && state.as_of > last_revision_;
}

Instant ElectionMachine::give_up_at() const noexcept {
  return config_.options.give_up_after
             ? saturating_add(standing_since_, *config_.options.give_up_after)
             : kNever;
}

}  // namespace tenure::core
