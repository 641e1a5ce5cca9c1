// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/backoff.h"
#include "core/check.h"
#include "core/election/election.h"

#include <algorithm>
#include <utility>

namespace tenure::core {

void ElectionMachine::send_acquire(Instant now) {
  TENURE_CHECK(request_ == Request::none);
  TENURE_CHECK(phase_ == Phase::standing);
  TENURE_CHECK(!mine_ && !term_ && !work_running_ && !to_release_);
  request_ = Request::acquire;
  ++generation_;
  vacancy_seen_ = false;
  try_at_ = kNever;
  // A limit on the whole attempt shortens the request too, but never to nothing: whoever asks to
  // try once wants one answer.
  const Instant patience =
      std::max(give_up_at(), saturating_add(now, config_.timing.request_limit / 4));
  request_limit_ = std::min(saturating_add(now, config_.timing.request_limit), patience);
  SendAcquire effect{generation_, request_limit_, std::nullopt};
  if (observed_ && now >= observed_ends_) effect.judged_expired = observed_;
  effects_.emplace_back(std::move(effect));
}

void ElectionMachine::send_renew(Instant now) {
  TENURE_CHECK(request_ == Request::none);
  TENURE_CHECK(mine_.has_value() && !to_release_);
  request_ = Request::renew;
  ++generation_;
  request_limit_ = saturating_add(now, timing_.request_limit);
  if (term_) request_limit_ = std::min(request_limit_, term_->deadline);
  effects_.emplace_back(SendRenew{generation_, request_limit_, *mine_});
}

void ElectionMachine::send_release(Instant now) {
  TENURE_CHECK(request_ == Request::none);
  TENURE_CHECK(to_release_.has_value());
  TENURE_CHECK(!term_ && !work_running_);
  request_ = Request::release;
  ++generation_;
  request_limit_ = std::min(saturating_add(now, config_.timing.request_limit), stop_limit_);
  effects_.emplace_back(SendRelease{generation_, request_limit_, *to_release_});
}

void ElectionMachine::open_watch(Instant now) {
  watching_ = true;
  watch_opened_at_ = now;
  watch_retry_at_ = kNever;
  ++watch_generation_;
  seen_as_of_ = 0;
  effects_.emplace_back(OpenWatch{watch_generation_});
}

void ElectionMachine::watch_failed(const Error& error, Instant now) {
  watching_ = false;
  effects_.emplace_back(CloseWatch{});
  // A watch that only ever gives its first state has not recovered.
  const Duration lived = saturating_between(watch_opened_at_, now);
  if (lived >= config_.options.retry_max) watch_failures_ = 0;
  watch_retry_at_ = saturating_add(now, backoff(watch_failures_));
  if (auto report = watch_outage_.failed(error, now)) {
    effects_.emplace_back(ReportTrouble{*report, false});
  }
  // Nobody tells us of a vacancy now: ask.
  if (phase_ == Phase::standing && request_ == Request::none) {
    try_at_ = std::min(try_at_, watch_retry_at_);
  }
}

bool ElectionMachine::answered(Generation generation, Request kind) {
  if (request_ != kind || generation != generation_) return false;
  request_ = Request::none;
  return true;
}

void ElectionMachine::note_failure(const Error& error, Instant now) {
  if (auto report = outage_.failed(error, now)) {
    effects_.emplace_back(ReportTrouble{*report, false});
  }
}

void ElectionMachine::note_success() {
  if (auto error = outage_.recovered()) effects_.emplace_back(ReportTrouble{*error, true});
}

void ElectionMachine::note_holder(const std::optional<Record>& holder) {
  // Our own election is announced by BeginTerm, never by a look at the store.
  if (holder && holder->session == config_.session) return;
  std::string id = holder ? holder->id : std::string();
  const std::uint64_t token = holder ? holder->token : 0;
  if (id == holder_ && token == holder_token_) return;
  if (term_) return;
  holder_ = std::move(id);
  holder_token_ = token;
  effects_.emplace_back(ReportHolder{holder_, holder_token_});
}

Duration ElectionMachine::backoff(std::uint32_t& failures) {
  const FullJitterBackoff range{config_.options.retry_first, config_.options.retry_max,
                                config_.options.retry_first / 5};
  return range.at(failures++, rng_);
}

}  // namespace tenure::core
