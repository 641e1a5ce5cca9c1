// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"
#include "core/election/election.h"

#include <algorithm>
#include <utility>

namespace tenure::core {

void ElectionMachine::step_down(LossReason reason, std::string detail, Instant now) {
  TENURE_CHECK(term_.has_value());
  // Work that was told already gets no second grace: the record may be free after the deadline.
  work_limit_ = std::min(saturating_add(now, timing_.grace), term_->deadline);
  end_term(reason, std::move(detail));
  if (!work_running_) after_work(now);
}

void ElectionMachine::end_term(LossReason reason, std::string detail) {
  TENURE_CHECK(term_.has_value() && mine_.has_value());
  reason_ = reason;
  term_.reset();
  phase_ = Phase::stepping_down;
  effects_.emplace_back(EndTerm{mine_->token, reason, std::move(detail)});
}

void ElectionMachine::settle_ending(Instant now) {
  if (phase_ == Phase::stepping_down && work_running_ && !abandoned_ && now >= work_limit_) {
    work_overran();
  }
  if (to_release_ && request_ == Request::none && now >= release_at_) send_release(now);
  if (stopping_ && phase_ != Phase::stopped && now >= stop_limit_) {
    TENURE_CHECK(!term_);
    request_ = Request::none;
    std::string what = work_running_ ? "the work has not ended" : "the store has not answered";
    if (mine_ || to_release_ || uncertain_) what += "; the record is left to lapse by its ttl";
    finish(gave_up_ ? *gave_up_ : Error{Errc::timed_out, std::move(what)});
  }
}

void ElectionMachine::work_overran() {
  abandoned_ = true;
  if (request_ == Request::renew) request_ = Request::none;
  if (config_.options.on_overrun == Overrun::abort) {
    effects_.emplace_back(AbortProcess{last_token_});
    return;
  }
  Error error{Errc::timed_out,
              "the work goes on although its term is over; the record is left to lapse, and this "
              "candidate does not stand again before the work has ended"};
  effects_.emplace_back(ReportTrouble{std::move(error), false, true});
}

void ElectionMachine::after_work(Instant now) {
  TENURE_CHECK(!term_ && !work_running_);
  if (request_ == Request::renew) request_ = Request::none;
  if (!mine_) {
    after_term(now);
    return;
  }
  to_release_ = mine_->revision;
  release_at_ = now;
}

void ElectionMachine::released(const Result<ReleaseReply>& reply, Instant now) {
  TENURE_CHECK(to_release_.has_value());
  const bool final = reply || reply.error().code == Errc::closed;
  if (final) {
    if (reply) note_success();
    uncertain_ = uncertain_ && *to_release_ != 0;
  } else {
    note_failure(reply.error(), now);
    // A record whose time has passed frees the election by itself. A record that may linger in the
    // store all the same is met again, and released, when this candidate next stands.
    if (phase_ != Phase::stepping_down || stopping_ || now < record_until_) {
      release_at_ = saturating_add(now, backoff(failures_));
      return;
    }
  }
  to_release_.reset();
  mine_.reset();
  if (reply && reply->released) note_holder(std::nullopt);
  if (phase_ == Phase::standing) {
    try_at_ = now;
  } else {
    after_term(now);
  }
}

void ElectionMachine::after_term(Instant now) {
  TENURE_CHECK(!term_ && !work_running_ && !to_release_);
  TENURE_CHECK(request_ == Request::none);
  mine_.reset();
  abandoned_ = false;
  record_until_ = kLongAgo;
  renew_at_ = kNever;
  if (stopping_) {
    finish(gave_up_);
  } else if (reason_ == LossReason::yielded) {
    phase_ = Phase::pausing;
    pause_until_ = saturating_add(now, config_.options.yield_pause);
  } else {
    stand(now);
  }
}

void ElectionMachine::stop_standing(Instant now) {
  TENURE_CHECK(stopping_ && phase_ == Phase::standing);
  if (request_ == Request::renew) request_ = Request::none;
  if (request_ != Request::none) return;
  if (!mine_ && !uncertain_ && !in_line_ && !to_release_) {
    finish(gave_up_);
    return;
  }
  if (!to_release_) {
    to_release_ = uncertain_ || !mine_ ? 0 : mine_->revision;
    release_at_ = now;
  }
  mine_.reset();
  phase_ = Phase::stepping_down;
  if (now >= release_at_) send_release(now);
}

void ElectionMachine::finish(std::optional<Error> error) {
  TENURE_CHECK(!term_);
  request_ = Request::none;
  to_release_.reset();
  mine_.reset();
  phase_ = Phase::stopped;
  watching_ = false;
  effects_.emplace_back(CloseWatch{});
  effects_.emplace_back(Finish{std::move(error)});
}

}  // namespace tenure::core
