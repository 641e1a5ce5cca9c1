// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/runner.h"
#include "cli/runner_state.h"

#include <algorithm>

namespace tenure::cli {
namespace {

// For a command that even KILL does not end (it waits for a disk that is gone).
constexpr Duration kUnkillable = std::chrono::seconds(10);

// What a store has, once nothing runs any more, to take the record back. Not derived from the ttl:
// somebody waits for this process to end, and the ttl frees what the store does not.
constexpr Duration kStorePatience = std::chrono::milliseconds(1500);
// The same for one that is known not to answer, or when the end was asked for twice.
constexpr Duration kLittlePatience = std::chrono::milliseconds(200);
// The library keeps these limits itself, unless its loop hangs too.
constexpr Duration kLoopPatience = std::chrono::milliseconds(300);

}  // namespace

void Runner::begin_end(int code, const std::string& why) {
  if (exit_code_) return;
  exit_code_ = code;
  restart_at_ = kNever;
  if (!why.empty()) console_.say(code > 0 && code < 128 ? Level::error : Level::info, why);
  notifier_.send("STOPPING=1\nSTATUS=Ending");
  if (!run_) return wind_up();
  exit_limit_ = saturating_add(now(), stop_limit());
  ask_election_to_stop(stop_limit());
  ask_to_stop();
}

// Nothing runs any more. What is left to wait for is the store's word that it has the record back.
void Runner::wind_up() {
  const bool gave_up = *exit_code_ == kUnavailable || *exit_code_ == kNotElected;
  const bool silent = gave_up && (outage_ || !heard_);
  const Duration patience = hurried_ || silent ? kLittlePatience : kStorePatience;
  ask_election_to_stop(patience);
  exit_limit_ = std::min(exit_limit_, saturating_add(now(), patience + kLoopPatience));
}

// On the library's loop stop() does not wait, and what is posted there runs in order: whatever
// end_work() says later cannot overtake this, and become the begin of another term. That it has
// ended is an event.
void Runner::ask_election_to_stop(Duration limit) {
  if (!election_) return;
  is_stop_asked_ = true;
  runtime_->post([election = election_, limit] {
    // What it did not end is in the events.
    (void)election->stop(limit);
  });
}

void Runner::end_work(TermEnd end) {
  if (!is_stop_asked_) return end.done();
  runtime_->post([end = std::make_shared<TermEnd>(std::move(end))] { end->done(); });
}

// For the command, whose end wind_up() follows.
Duration Runner::stop_limit() const {
  return saturating_add(saturating_add(timing_.grace, margin_), kUnkillable);
}

// Leaves the election meanwhile, so that another candidate may try.
void Runner::restart_later(Duration wait) {
  console_.info("standing again in " + format_duration(wait));
  restart_at_ = saturating_add(now(), wait);
  // Nobody waits for it: the store is asked for as long as the record is there.
  ask_election_to_stop(timing_.ttl);
}

bool Runner::may_exit(Instant at) const {
  if (!exit_code_) return false;
  if (at >= exit_limit_) return true;
  return !run_ && (!election_ || election_stopped_);
}

}  // namespace tenure::cli
