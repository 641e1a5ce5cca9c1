// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"
#include "core/election/election.h"
#include "core/final_error.h"
#include "core/validity.h"

#include <algorithm>

namespace tenure::core {

void ElectionMachine::grant(Instant sent_at, Duration ttl, Instant now) {
  TENURE_CHECK(mine_.has_value());
  // A store that claims to have sent the request in the future does not get to lengthen a term.
  const Instant sent = std::min(sent_at, now);
  timing_ = scale_to(config_.timing, ttl);
  const Instant until = valid_until(sent, ttl, timing_.drift);
  // The store counts the newest ttl from the newest renewal: a smaller one shortens the term.
  record_until_ = ttl < mine_->ttl ? until : std::max(record_until_, until);
  mine_->ttl = ttl;
  const Instant latest = saturating_add(sent, timing_.renew_interval);
  const Instant earliest = saturating_add(sent, timing_.renew_interval / 2);
  // However old the answer is, the next request does not follow it at once.
  const Instant soonest = saturating_add(now, std::chrono::milliseconds(1));
  renew_at_ =
      std::max(soonest, on_grid(earliest, latest, timing_.renew_interval, config_.renew_phase));
}

void ElectionMachine::announce_if_fresh(Instant now) {
  TENURE_CHECK(mine_.has_value() && !term_ && !work_running_);
  TENURE_CHECK(mine_->revision > last_revision_);
  const Instant step_down = saturating_sub(record_until_, timing_.grace);
  if (now >= step_down) {
    // The answer came too late to lead on it; a renewal that is answered in time will do.
    renew_at_ = saturating_add(now, backoff(failures_));
    return;
  }
  uncertain_ = false;
  in_line_ = false;
  vacancy_seen_ = false;
  failures_ = 0;
  abandoned_ = false;
  term_ = Term{record_until_, step_down, false};
  last_revision_ = mine_->revision;
  last_token_ = mine_->token;
  stale_grants_ = 0;
  work_running_ = config_.tracks_work;
  phase_ = Phase::leading;
  renew_error_.reset();
  holder_ = mine_->id;
  holder_token_ = mine_->token;
  effects_.emplace_back(BeginTerm{mine_->token, term_->deadline});
}

void ElectionMachine::renewed(const RenewReply& reply, Instant now) {
  note_success();
  if (!reply.held) {
    record_gone(reply.holder, now);
    return;
  }
  failures_ = 0;
  renew_error_.reset();
  grant(reply.sent_at, reply.ttl, now);
  if (phase_ == Phase::standing) {
    if (!stopping_) announce_if_fresh(now);
    return;
  }
  if (!term_ || record_until_ == term_->deadline) return;
  // Once the work was told to stop a term must not come back to life; it may end still sooner.
  if (term_->told && record_until_ > term_->deadline) return;
  term_->deadline = record_until_;
  term_->step_down = saturating_sub(record_until_, timing_.grace);
  if (term_->told) work_limit_ = term_->deadline;
  effects_.emplace_back(MoveDeadline{term_->deadline});
}

void ElectionMachine::renew_failed(const Error& error, Instant now) {
  note_failure(error, now);
  if (error.code == Errc::not_found) {
    record_gone(std::nullopt, now);
    return;
  }
  if (phase_ == Phase::standing) {
    // Not announced yet: begin again, knowing that a record of ours may be there.
    mine_.reset();
    uncertain_ = true;
    try_at_ = saturating_add(now, backoff(failures_));
    return;
  }
  renew_error_ = error;
  // The wait never outlasts the failed request's own limit, so that a second whole try fits.
  const Duration left = std::max(Duration::zero(), saturating_between(now, request_limit_));
  renew_at_ = saturating_add(now, std::min(backoff(failures_), left));
}

void ElectionMachine::settle_leading(Instant now) {
  if (!term_) return;
  if (!term_->told && now >= term_->step_down) {
    term_->told = true;
    reason_ = starved();
    phase_ = Phase::stepping_down;
    work_limit_ = term_->deadline;
    effects_.emplace_back(TellWork{});
  }
  if (now >= term_->deadline) {
    end_term(reason_, renew_error_ ? renew_error_->message : "no renewal was answered in time");
    if (!work_running_) after_work(now);
  }
}

void ElectionMachine::record_gone(const std::optional<Record>& holder, Instant now) {
  const bool other = holder && holder->session != config_.session;
  if (request_ == Request::renew) request_ = Request::none;
  if (term_) {
    if (!term_->told) work_limit_ = saturating_add(now, timing_.grace);
    end_term(other ? LossReason::taken_over : LossReason::deleted,
             other ? holder->id + " holds with token " + std::to_string(holder->token)
                   : "the record is gone");
  }
  mine_.reset();
  note_holder(other ? holder : std::nullopt);
  if (phase_ == Phase::standing) {
    try_at_ = saturating_add(now, backoff(failures_));
  } else if (!work_running_) {
    to_release_.reset();
    if (request_ == Request::release) request_ = Request::none;
    after_term(now);
  }
}

void ElectionMachine::own_record_sees(const ElectionState& state, Instant now) {
  TENURE_CHECK(mine_.has_value());
  if (state.as_of < mine_->revision) return;
  const bool still_ours = state.holder && state.holder->session == config_.session &&
                          state.holder->revision == mine_->revision;
  if (!still_ours) record_gone(state.holder, now);
}

bool ElectionMachine::wants_renewal() const noexcept {
  if (!mine_ || to_release_ || abandoned_) return false;
  if (phase_ == Phase::standing) return !stopping_;
  return phase_ == Phase::leading || (phase_ == Phase::stepping_down && work_running_);
}

LossReason ElectionMachine::starved() const noexcept {
  if (!renew_error_) return LossReason::expired;
  const Errc code = renew_error_->code;
  if (is_final(code)) return LossReason::fatal;
  const bool is_refused = code == Errc::unauthenticated || code == Errc::permission_denied;
  return is_refused ? LossReason::unauthorized : LossReason::expired;
}

}  // namespace tenure::core
