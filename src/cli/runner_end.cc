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
  if (run_) {
    ask_election_to_stop();
    ask_to_stop();
  }
  stop_election();
}

// On the library's loop stop() does not wait, and what is posted there runs in order: whatever
// end_work() says later cannot overtake this, and become the begin of another term.
void Runner::ask_election_to_stop() {
  if (!election_) return;
  is_stop_asked_ = true;
  runtime_->post([election = election_, limit = stop_limit()] {
    // What it did not end is told to the stop() that waits.
    (void)election->stop(limit);
  });
}

void Runner::end_work(TermEnd end) {
  if (!is_stop_asked_) return end.done();
  runtime_->post([end = std::make_shared<TermEnd>(std::move(end))] { end->done(); });
}

Duration Runner::stop_limit() const {
  return saturating_add(saturating_add(timing_.grace, timing_.request_limit),
                        std::chrono::seconds(1));
}

// stop() waits, for up to its limit; this loop must not while there is a command to look after.
void Runner::stop_election() {
  if (!election_ || stopper_.joinable() || election_stopped_) return;
  const auto stop = [this, limit = stop_limit(), inbox = inbox_] {
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
    if (!refused.empty()) ask_election_to_stop();
    for (auto& [term, end] : refused) end_work(std::move(end));
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
