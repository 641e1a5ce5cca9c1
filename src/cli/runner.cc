// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/runner.h"

#include "cli/descendants.h"
#include "cli/duration.h"
#include "cli/environment.h"
#include "cli/exit_code.h"
#include "cli/find_command.h"
#include "cli/runner_state.h"
#include "cli/signals.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <system_error>

namespace tenure::cli {
namespace {

constexpr int kSweepMs = 2;
constexpr Duration kTick = std::chrono::seconds(1);
// What the store has at least, whatever --timeout says, to answer for the first time.
constexpr Duration kFirstAnswer = std::chrono::seconds(1);

}  // namespace

Runner::Runner(const Settings& settings, Console& console)
    : settings_(settings),
      console_(console),
      clock_(system_clock()),
      inbox_(std::make_shared<Inbox>()),
      timing_(settings.timing),
      margin_(kill_margin(settings.timing)) {}

Runner::~Runner() {
  if (opener_.joinable()) opener_.detach();
  if (signals_ >= 0) close(signals_);
}

int Runner::run() {
  const int failed = set_up();
  if (failed == kOk) loop();
  console_.clear_progress();
  if (election_ && !election_stopped_ && !run_) {
    console_.warning(
        "the store has not answered; what it may hold of this candidate lapses by its "
        "ttl");
  }
  // A guardian without a command has nothing to look after.
  if (guardian_ && !run_) {
    guardian_->kill();
    waitpid_quietly(guardian_->pid());
  }
  return failed != kOk ? failed : exit_code_.value_or(kUnavailable);
}

int Runner::set_up() {
  const std::string& program = settings_.program.front();
  if (const FoundCommand found = find_command(program); found.error != 0) {
    console_.error(describe_failure(program, found, found.error));
    return found.is_missing() ? kNotFound : kCannotRun;
  }
  if (has_children()) strangers_ = children_of_this_process();
  become_subreaper();
  signals_ = open_signal_fd();
  timer_ = clock_.make_timer();
  if (signals_ < 0 || !timer_ || inbox_->bell < 0) {
    console_.error("no file descriptors left; raise the limit (ulimit -n)");
    return kUnavailable;
  }
  auto runtime = Runtime::create({.worker_threads = 1, .callback_threads = 1});
  if (!runtime) {
    console_.error(runtime.error().message);
    return kUnavailable;
  }
  runtime_ = *std::move(runtime);
  // While the store is opened and asked, the guardian starts up on the other processor.
  open_store();
  return spawn_guardian() ? kOk : kCannotRun;
}

// A database may be locked by others for seconds; this loop must hear signals meanwhile.
void Runner::open_store() {
  standing_since_ = now();
  if (const auto interval = notifier_.watchdog_interval()) {
    watchdog_due_ = saturating_add(now(), *interval);
  }
  const auto open = [runtime = runtime_.get(), url = settings_.store, inbox = inbox_] {
    auto opened = runtime->open_store(url);
    {
      const std::lock_guard lock(inbox->mutex);
      inbox->opened = std::move(opened);
    }
    inbox->ring();
  };
  try {
    opener_ = std::thread(open);
  } catch (const std::system_error&) {
    open();  // no thread to be had
  }
}

void Runner::store_opened() {
  if (opener_.joinable()) opener_.join();
  auto opened = *std::exchange(inbox_->opened, std::nullopt);
  if (exit_code_) return;
  if (!opened) {
    begin_end(exit_code_of(opened.error()), opened.error().message);
    return;
  }
  store_ = *std::move(opened);
  if (const auto standing = stand(); !standing) {
    begin_end(exit_code_of(standing.error()), standing.error().message);
    return;
  }
  notifier_.send("READY=1\nSTATUS=Waiting to be elected");
}

bool Runner::spawn_guardian() {
  auto spawned = GuardianLink::spawn(settings_.program, environment_for(settings_.election));
  if (!spawned) {
    console_.error(spawned.error().message);
    return false;
  }
  guardian_ = *std::move(spawned);
  guardian_since_ = now();
  return true;
}

Result<void> Runner::stand() {
  const ElectionOptions options = with_kill_margin(settings_.election, settings_.timing);
  auto election = Election::create(*runtime_, store_, options);
  if (!election) return tl::unexpected(election.error());
  auto standing = std::make_shared<Election>(*std::move(election));
  auto set = standing->on_term([inbox = inbox_](Leadership term, TermEnd end) {
    {
      const std::lock_guard lock(inbox->mutex);
      inbox->terms.emplace_back(std::move(term), std::move(end));
    }
    inbox->ring();
  });
  if (!set) return set;
  if (standing->event_fd() < 0) return fail(Errc::unavailable, "no file descriptors left");
  is_stop_asked_ = false;
  heard_ = false;
  if (console_.shows_progress()) progress_due_ = saturating_add(now(), kTick);
  election_ = std::move(standing);
  return election_->start();
}

void Runner::loop() {
  while (!may_exit(now())) {
    arm();
    std::array<pollfd, 5> ready{pollfd{signals_, POLLIN, 0}, pollfd{inbox_->bell, POLLIN, 0},
                                pollfd{timer_->fd(), POLLIN, 0},
                                pollfd{guardian_ ? guardian_->fd() : -1, POLLIN, 0},
                                pollfd{election_ ? election_->event_fd() : -1, POLLIN, 0}};
    poll(ready.data(), ready.size(), run_ && run_->orphaned ? kSweepMs : -1);
    // What happened to the command before what is wanted of it; events before the rest, so that
    // a reason is known when its consequence is handled.
    if (ready[3].revents != 0) handle_guardian();
    if (ready[4].revents != 0) handle_events();
    if (ready[0].revents != 0) handle_signals();
    if (ready[1].revents != 0) handle_inbox();
    if (run_ && run_->orphaned) sweep();
    handle_due();
  }
}

void Runner::arm() {
  Instant due = std::min({progress_due_, watchdog_due_, exit_limit_, restart_at_});
  if (run_) {
    due = std::min({due, take_over_due(), run_->answer_due});
    if (run_->asked_at == kNever && !run_->orphaned) {
      // Finer towards the end, so that a renewal in the last moment is still passed on in time.
      const Instant stop_at = saturating_sub(run_->told, saturating_add(timing_.grace, margin_));
      const Duration step = saturating_between(now(), stop_at) / 8;
      due = std::min(due,
                     saturating_add(now(), std::max<Duration>(step, std::chrono::milliseconds(1))));
    }
  } else if (settings_.timeout && !exit_code_ && restart_at_ == kNever) {
    due = std::min(due, give_up_at());
  }
  timer_->arm(due);
}

void Runner::handle_due() {
  const Instant at = now();
  if (run_) send_deadline();
  if (run_) judge_guardian();
  if (restart_at_ != kNever && at >= restart_at_ && !election_ && !exit_code_) {
    restart_at_ = kNever;
    standing_since_ = at;
    if (const auto standing = stand(); !standing) {
      begin_end(exit_code_of(standing.error()), standing.error().message);
    }
  }
  check_timeout(at);
  show_waiting(at);
  feed_watchdog(at);
}

void Runner::handle_inbox() {
  eventfd_t rung = 0;
  eventfd_read(inbox_->bell, &rung);
  std::vector<std::pair<Leadership, TermEnd>> terms;
  bool opened = false;
  {
    const std::lock_guard lock(inbox_->mutex);
    terms.swap(inbox_->terms);
    opened = inbox_->opened.has_value();
  }
  if (opened) store_opened();
  for (auto& [term, end] : terms) accept_term(std::move(term), std::move(end));
  if (inbox_->told.exchange(false)) told();
}

// The shortest wait still lets the store answer once: with whoever leads, or by electing us.
Instant Runner::give_up_at() const {
  const bool answered = heard_ && !holder_.empty();
  return saturating_add(standing_since_,
                        answered ? *settings_.timeout : std::max(*settings_.timeout, kFirstAnswer));
}

void Runner::check_timeout(Instant at) {
  if (!settings_.timeout || run_ || exit_code_ || restart_at_ != kNever) return;
  if (at < give_up_at()) return;
  const std::string span = format_duration(*settings_.timeout);
  if (outage_ || !heard_) {
    begin_end(kUnavailable, "the store did not answer within " + span);
  } else {
    begin_end(kNotElected, "not elected within " + span +
                               (holder_.empty() ? "" : "; " + quoted(holder_) + " leads"));
  }
}

void Runner::show_waiting(Instant at) {
  if (at < progress_due_) return;
  progress_due_ = kNever;
  if (run_ || exit_code_ || !election_) return;
  progress_due_ = saturating_add(at, kTick);
  console_.progress("waiting for " + format_duration(saturating_between(standing_since_, at)) +
                    (holder_.empty() ? "" : "; " + quoted(holder_) + " leads"));
}

// Fed only if the library's loop has run a task since the last time, and no command outlives its
// term: a process that is merely alive is not progress.
void Runner::feed_watchdog(Instant at) {
  if (at < watchdog_due_) return;
  watchdog_due_ = saturating_add(at, *notifier_.watchdog_interval());
  if (run_ && at > run_->deadline) return;
  if (!inbox_->loop_alive.exchange(false)) return;
  notifier_.send("WATCHDOG=1");
  runtime_->post([inbox = inbox_] { inbox->loop_alive = true; });
}

}  // namespace tenure::cli
