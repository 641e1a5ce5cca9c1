// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"
#include "cli/runner.h"
#include "cli/runner_state.h"

#include <system_error>

namespace tenure::cli {
namespace {

// For a command that even KILL does not end (it waits for a disk that is gone).
constexpr Duration kUnkillable = std::chrono::seconds(10);

}  // namespace

void Runner::begin_end(int code, const std::string& why) {
  if (exit_code_) return;
  exit_code_ = code;
  restart_at_ = kNever;
  const Duration limit = saturating_add(timing_.grace, timing_.request_limit);
  exit_limit_ = saturating_add(now(), saturating_add(limit, kUnkillable));
  if (!why.empty()) console_.say(code > 0 && code < 128 ? Level::error : Level::info, why);
  notifier_.send("STOPPING=1\nSTATUS=Ending");
  if (run_) ask_to_stop();
  stop_election();
}

// stop() waits, for up to its limit; this loop must not while there is a command to look after.
void Runner::stop_election() {
  if (!election_ || stopper_.joinable() || election_stopped_) return;
  const Duration limit =
      saturating_add(saturating_add(timing_.grace, timing_.request_limit), std::chrono::seconds(1));
  const auto stop = [this, limit, inbox = inbox_] {
    // What it left to lapse is in the events.
    (void)election_->stop(limit);
    inbox->stopped = true;
    inbox->ring();
  };
  if (exit_code_ && !run_) {
    std::vector<std::pair<Leadership, TermEnd>> refused;
    {
      const std::lock_guard lock(inbox_->mutex);
      inbox_->closed = true;
      refused.swap(inbox_->terms);
    }
    refused.clear();
    stop();
    return;
  }
  try {
    stopper_ = std::thread(stop);
  } catch (const std::system_error&) {
    stop();  // no thread to be had: slower, and everything still ends
  }
}

// Leaves the election meanwhile, so that another candidate may try.
void Runner::restart_later(Duration wait) {
  console_.info("standing again in " + format_duration(wait));
  restart_at_ = saturating_add(now(), wait);
  stop_election();
}

bool Runner::may_exit(Instant at) const {
  if (!exit_code_) return false;
  if (at >= exit_limit_) return true;
  return !run_ && (!election_ || election_stopped_);
}

}  // namespace tenure::cli
