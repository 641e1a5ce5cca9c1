// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/descendants.h"
#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/find_command.h"
#include "cli/runner.h"
#include "cli/runner_state.h"
#include "cli/signals.h"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>

namespace tenure::cli {
namespace {

using guardian::Message;
using guardian::Verb;

// A command that ends within this after the terminal's interrupt is taken to have ended by it.
constexpr Duration kInterruptWindow = std::chrono::seconds(10);
// When so many die one after the other, each faster than this, the next one will not do better.
constexpr Duration kGuardianLife = std::chrono::seconds(1);
constexpr int kMostShortLives = 5;
// What one may take, at most, to answer that it starts the command.
constexpr Duration kAnswer = std::chrono::seconds(3);

// What a guardian that is told to kill may take for it.
constexpr Duration kPromptly = std::chrono::milliseconds(100);

std::string describe_end(int status, Duration ran) {
  const std::string after = " after " + format_duration(ran);
  if (WIFSIGNALED(status)) return "command ended by " + signal_name(WTERMSIG(status)) + after;
  return "command ended with code " + std::to_string(WEXITSTATUS(status)) + after;
}

}  // namespace

void Runner::accept_term(Leadership term, TermEnd end) {
  if (exit_code_ || run_ || !term.held()) return end_work(std::move(end));
  const Timing timing = election_->timing();
  timing_ = scale_to(settings_.timing, timing.ttl);
  margin_ = timing.grace - timing_.grace;
  run_.emplace();
  run_->begun = now();
  run_->term = std::move(term);
  run_->end = std::move(end);
  std::function<void()> ring = [inbox = inbox_] {
    inbox->told = true;
    inbox->ring();
  };
  run_->on_told = std::make_unique<std::stop_callback<std::function<void()>>>(
      run_->term.stop_token(), std::move(ring));
  if (send_start()) return;
  abandon_run();
  begin_end(kCannotRun, "no guardian process: the command was not started");
}

bool Runner::send_start() {
  const Instant deadline = run_->term.deadline();
  Message message;
  message.verb = Verb::start;
  message.token = run_->term.token();
  message.deadline = deadline.time_since_epoch().count();
  message.grace = timing_.grace.count();
  message.margin = margin_.count();
  message.ttl_ms = std::chrono::duration_cast<std::chrono::milliseconds>(timing_.ttl).count();
  const auto sent = [&] { return guardian_ && guardian_->send(message, store_->inherited_fd()); };
  if (!sent()) {
    if (guardian_) guardian_->kill();
    if (!spawn_guardian() || !sent()) return false;
  }
  run_->deadline = run_->told = deadline;
  // Well before the deadline, so that another one still can.
  const Duration left = saturating_between(now(), saturating_sub(deadline, margin_));
  run_->answer_due = saturating_add(now(), std::min<Duration>(left / 4, kAnswer));
  return true;
}

// Without a word to the guardian, which has not started anything.
void Runner::abandon_run() {
  ask_election_to_stop(stop_limit());
  end_work(std::move(run_->end));
  run_.reset();
}

void Runner::handle_guardian() {
  bool closed = false;
  while (guardian_ && !closed) {
    if (const auto message = guardian_->receive(closed)) {
      handle_message(*message);
    } else if (!closed) {
      return;
    }
  }
  if (closed) guardian_ended();
}

void Runner::handle_message(const Message& message) {
  if (message.verb == Verb::failed) command_failed(message.number);
  if (!run_) return;
  switch (message.verb) {
    case Verb::starting:
      run_->begins = true;
      run_->answer_due = kNever;
      [[fallthrough]];
    case Verb::known:
      run_->deadline = Instant(Duration(message.deadline));
      break;
    case Verb::started:
      console_.info("running " + quoted(settings_.program.front()) + " as process " +
                    std::to_string(message.number));
      say_status("Leading, command runs as process " + std::to_string(message.number));
      break;
    case Verb::ended:
      run_->status = message.number;
      run_->asked = message.asked;
      break;
    case Verb::late:
      console_.warning("the deadline was too near to start the command");
      [[fallthrough]];
    case Verb::gone:
      guardian_.reset();
      finish_run();
      break;
    case Verb::stopped:
      command_stopped();
      break;
    case Verb::terminal:
      handle_signal(message.number, true);
      break;
    default:
      break;
  }
}

void Runner::command_failed(int error) {
  guardian_.reset();
  if (run_) abandon_run();
  const std::string& program = settings_.program.front();
  const FoundCommand found = find_command(program);
  begin_end(found.is_missing() ? kNotFound : kCannotRun, describe_failure(program, found, error));
}

// It has said no farewell: killed, crashed, or stopped and then killed by us.
void Runner::guardian_ended() {
  guardian_.reset();
  const bool wanted = run_ && !run_->begins && !run_->orphaned && run_->asked_at == kNever &&
                      run_->killed_at == kNever;
  if (run_ && !wanted) {
    if (!run_->orphaned) console_.warning("the guardian process has died; killing the command");
    run_->orphaned = true;
    run_->killed_at = std::min(run_->killed_at, now());
    return;  // the loop sweeps
  }
  if (exit_code_) return;
  const bool short_lived = saturating_between(guardian_since_, now()) < kGuardianLife;
  short_lives_ = short_lived ? short_lives_ + 1 : 0;
  // Killed by us because it did not answer: the deadline bounds how often.
  const bool replaced = wanted && run_->answer_due == kNever;
  if ((replaced || short_lives_ < kMostShortLives) && (wanted ? send_start() : spawn_guardian()))
    return;
  if (wanted) abandon_run();
  begin_end(kCannotRun, "the guardian process ended before it had a command to run");
}

// The term ends or is about to end, and not because this loop asked for it.
void Runner::told() {
  if (!run_ || run_->asked_at != kNever || run_->killed_at != kNever) return;
  if (run_->term.held()) {
    ask_to_stop();
  } else {
    kill_run();
  }
}

void Runner::ask_to_stop() {
  if (run_->asked_at != kNever) return;
  run_->asked_at = now();
  if (run_->orphaned) return;
  console_.debug("asking the command to end");
  if (guardian_ && !guardian_->send(Verb::stop)) take_over("the guardian process does not answer");
}

void Runner::kill_run() {
  if (run_->killed_at != kNever) return;
  run_->killed_at = now();
  if (run_->orphaned) return;
  console_.debug("killing the command");
  if (guardian_ && !guardian_->send(Verb::kill)) take_over("the guardian process does not answer");
}

// The end of the guardian kills the command, and makes all its descendants children of ours.
void Runner::take_over(const char* why) {
  console_.warning(std::string(why) + "; killing the command without it");
  run_->orphaned = true;
  run_->killed_at = std::min(run_->killed_at, now());
  if (guardian_) guardian_->kill();
}

void Runner::sweep() {
  reap();
  if (!run_) return;
  // A dying guardian still has children to hand over, and is one itself until it is reaped.
  const std::vector<pid_t> children = children_of_this_process();
  const bool left = std::any_of(children.begin(), children.end(), [this](pid_t child) {
    return std::find(strangers_.begin(), strangers_.end(), child) == strangers_.end();
  });
  if (left) {
    signal_children(SIGKILL, strangers_);
  } else {
    finish_run();
  }
}

void Runner::finish_run() {
  CommandRun run = *std::move(run_);
  run_.reset();
  run.on_told.reset();
  const Instant at = now();
  const Duration ran = saturating_between(run.begun, at);
  standing_since_ = at;
  if (console_.shows_progress()) progress_due_ = saturating_add(at, std::chrono::seconds(1));
  if (run.status) console_.info(describe_end(*run.status, ran));
  const bool forced =
      run.asked || run.orphaned || run.asked_at != kNever || run.killed_at != kNever || !run.status;
  // What was not begun has lost nothing: a deadline too near, a guardian that died in time.
  const bool lost_for_good = forced && settings_.once && run.begins;
  // Before the work is said to have ended: the election would stand again, and be won at once.
  if (lost_for_good) ask_election_to_stop(stop_limit());
  end_work(std::move(run.end));
  if (exit_code_) {
    wind_up();
  } else if (!forced) {
    after_own_end(run, ran);
  } else if (lost_for_good) {
    begin_end(kLeadershipLost, "leadership was lost before the command had ended");
  } else {
    say_status("Waiting to be elected");
  }
  if (!exit_code_ && !guardian_ && !spawn_guardian()) {
    begin_end(kCannotRun, "no guardian process");
  }
}

void Runner::after_own_end(const CommandRun& run, Duration ran) {
  const bool interrupted =
      run.interrupted != 0 && saturating_between(run.interrupted_at, now()) < kInterruptWindow;
  if (settings_.once) {
    begin_end(exit_code_of_wait_status(*run.status), "");
  } else if (interrupted) {
    begin_end(kSignalBase + run.interrupted, "interrupted from the terminal");
  } else if (const Duration pause = pace_.pause_after(ran); pause > Duration::zero()) {
    restart_later(pause);
  }
}

void Runner::send_deadline() {
  const Instant deadline = run_->term.deadline();
  if (run_->asked_at != kNever || !run_->begins || run_->orphaned || deadline <= run_->told) return;
  Message message;
  message.verb = Verb::deadline;
  message.deadline = deadline.time_since_epoch().count();
  // If it does not go through, the guardian acts on the earlier deadline, which is safe.
  if (guardian_ && guardian_->send(message)) run_->told = deadline;
}

// A guardian may be stopped or hang as anything else may. What it has not answered it does not act
// upon, so this process acts in its place before the deadline that it has.
void Runner::judge_guardian() {
  if (run_->orphaned || now() < std::min(take_over_due(), run_->answer_due)) return;
  handle_guardian();  // it may have answered while this process did not run
  if (!run_ || run_->orphaned) return;
  if (now() >= take_over_due()) return take_over("the guardian process did not act in time");
  if (now() < run_->answer_due) return;
  run_->answer_due = kNever;
  console_.warning("the guardian process does not answer; starting another one");
  guardian_->kill();  // its end brings the next one
}

// When the guardian must have done its work, or this process does it: half of the margin is for
// the one, half for the other.
Instant Runner::take_over_due() const {
  if (run_->orphaned) return kNever;
  Instant due = saturating_sub(run_->deadline, margin_ / 2);
  if (run_->asked_at != kNever) {
    due = std::min(due, saturating_add(run_->asked_at, timing_.grace + margin_ / 2));
  }
  if (run_->killed_at != kNever) {
    due = std::min(due, saturating_add(run_->killed_at, std::max(margin_ / 2, kPromptly)));
  }
  return due;
}

}  // namespace tenure::cli
