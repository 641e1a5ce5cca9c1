// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/election/election.h"

#include "core/check.h"

#include <algorithm>
#include <utility>

namespace tenure::core {

ElectionMachine::ElectionMachine(ElectionConfig config)
    : config_(std::move(config)), timing_(config_.timing), rng_(config_.seed) {
  TENURE_CHECK(!config_.session.empty());
  TENURE_CHECK(config_.timing.ttl > Duration::zero());
}

void ElectionMachine::start(Instant now) {
  if (phase_ != Phase::idle) return;
  open_watch(now);
  stand(now);
  settle(now);
}

void ElectionMachine::yield(Instant now) {
  settle(now);
  if (phase_ == Phase::leading) step_down(LossReason::yielded, "a yield was asked for", now);
  settle(now);
}

void ElectionMachine::stop(Instant now, Instant limit) {
  settle(now);
  if (phase_ == Phase::stopped) return;
  stop_limit_ = stopping_ ? std::min(stop_limit_, limit) : limit;
  stopping_ = true;
  if (term_) step_down(LossReason::stopped, "a stop was asked for", now);
  if (phase_ == Phase::idle || phase_ == Phase::pausing) finish(std::nullopt);
  settle(now);
}

void ElectionMachine::work_ended(Instant now) {
  settle(now);
  if (!work_running_) return;
  work_running_ = false;
  if (term_ && !term_->told) {
    step_down(LossReason::yielded, "the work ended", now);
  } else if (phase_ == Phase::stepping_down) {
    if (term_) end_term(reason_, "no renewal succeeded; the work ended before the deadline");
    after_work(now);
  }
  settle(now);
}

void ElectionMachine::on_acquire(Generation generation, const Result<AcquireReply>& reply,
                                 Instant now) {
  settle(now);
  if (!answered(generation, Request::acquire)) return;
  if (!reply) {
    acquire_failed(reply.error(), now);
  } else if (reply->ours) {
    acquired(*reply, now);
  } else {
    held_by_other(*reply, now);
  }
  settle(now);
}

void ElectionMachine::on_renew(Generation generation, const Result<RenewReply>& reply,
                               Instant now) {
  settle(now);
  if (!answered(generation, Request::renew)) return;
  if (reply) {
    renewed(*reply, now);
  } else {
    renew_failed(reply.error(), now);
  }
  settle(now);
}

void ElectionMachine::on_release(Generation generation, const Result<ReleaseReply>& reply,
                                 Instant now) {
  settle(now);
  if (!answered(generation, Request::release)) return;
  released(reply, now);
  settle(now);
}

void ElectionMachine::on_watch(Generation generation, const Result<ElectionState>& state,
                               Instant now) {
  settle(now);
  if (!watching_ || generation != watch_generation_) return;
  if (!state) {
    watch_failed(state.error(), now);
  } else if (state->as_of >= seen_as_of_) {
    seen_as_of_ = state->as_of;
    if (auto error = watch_outage_.recovered()) effects_.emplace_back(ReportTrouble{*error, true});
    note_holder(state->holder);
    if (mine_) {
      own_record_sees(*state, now);
    } else if (phase_ == Phase::standing) {
      standing_sees(*state, now);
    } else if (phase_ == Phase::pausing && another_leads(*state)) {
      stand(now);
    }
  }
  settle(now);
}

void ElectionMachine::tick(Instant now) { settle(now); }

void ElectionMachine::settle(Instant now) {
  if (phase_ == Phase::idle || phase_ == Phase::stopped) return;
  // What ends leadership comes first, whatever else is due at the same instant.
  settle_leading(now);
  settle_request(now);
  settle_ending(now);
  settle_standing(now);
  settle_watch(now);
  if (request_ == Request::none && wants_renewal() && now >= renew_at_) send_renew(now);
  check_invariants();
}

void ElectionMachine::settle_request(Instant now) {
  if (request_ == Request::none || now < request_limit_) return;
  const Request kind = std::exchange(request_, Request::none);
  const Error error{Errc::outcome_unknown, "the store did not answer within the request limit"};
  switch (kind) {
    case Request::acquire:
      acquire_failed(error, now);
      break;
    case Request::renew:
      renew_failed(error, now);
      break;
    case Request::release:
      released(tl::unexpected(error), now);
      break;
    case Request::none:
      break;
  }
}

void ElectionMachine::settle_watch(Instant now) {
  if (phase_ == Phase::stopped || watching_ || now < watch_retry_at_) return;
  open_watch(now);
}

Instant ElectionMachine::next_deadline() const noexcept {
  if (phase_ == Phase::idle || phase_ == Phase::stopped) return kNever;
  Instant next = kNever;
  const auto consider = [&next](bool armed, Instant when) {
    if (armed) next = std::min(next, when);
  };
  const bool free = request_ == Request::none;
  if (term_) {
    consider(true, term_->deadline);
    consider(!term_->told, term_->step_down);
  }
  consider(!free, request_limit_);
  consider(free && wants_renewal(), renew_at_);
  consider(free && to_release_.has_value(), release_at_);
  consider(phase_ == Phase::stepping_down && work_running_ && !abandoned_, work_limit_);
  consider(stopping_, stop_limit_);
  consider(phase_ == Phase::standing && free && !mine_ && !to_release_, try_at_);
  consider(phase_ == Phase::standing && tried_ && !stopping_, give_up_at());
  consider(!watching_, watch_retry_at_);
  consider(phase_ == Phase::pausing, pause_until_);
  return next;
}

Effects ElectionMachine::take_effects() { return std::exchange(effects_, {}); }

void ElectionMachine::check_invariants() const {
  TENURE_CHECK(!term_ || mine_);
  TENURE_CHECK((phase_ == Phase::leading) == (term_ && !term_->told));
  TENURE_CHECK(!term_ || phase_ == Phase::leading || phase_ == Phase::stepping_down);
  TENURE_CHECK(phase_ != Phase::standing || !work_running_);
  TENURE_CHECK(phase_ != Phase::pausing || (!work_running_ && !mine_));
  TENURE_CHECK(!to_release_ || !work_running_);
  TENURE_CHECK(!to_release_ || !term_);
  TENURE_CHECK(!mine_ || mine_->session == config_.session);
  TENURE_CHECK(phase_ != Phase::stopped || request_ == Request::none);
}

}  // namespace tenure::core
