// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/election.h>
#include <tenure/runtime.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/guardian_link.h"
#include "cli/notify.h"
#include "cli/options.h"
#include "cli/pace.h"

namespace tenure::cli {

// One term and its run of the command.
struct CommandRun {
  Leadership term;
  TermEnd end;
  Instant deadline = kLongAgo;  // on which the guardian is known to act
  Instant told = kLongAgo;      // the newest it was sent; counts for nothing until it has answered
  Instant answer_due = kNever;  // when another guardian is asked to start the command
  Instant begun = kLongAgo;
  Instant asked_at = kNever;   // TERM was asked for
  Instant killed_at = kNever;  // KILL was
  bool begins = false;         // the guardian has taken the start: from here on the command may run
  bool asked = false;          // the command ended because it was asked to
  bool orphaned = false;       // the guardian has gone: the killing is ours
  bool hung_up = false;        // it was told that it will never have the terminal
  std::optional<int> status;
  int interrupted = 0;  // the terminal sent the command this signal...
  Instant interrupted_at = kLongAgo;
  std::unique_ptr<std::stop_callback<std::function<void()>>> on_told;  // last: ends first
};

// `tenure run` and `tenure lock`: stands for election and, for each term, has a guardian run the
// command. One thread, one poll loop; the library's threads only ring a bell.
class Runner {
 public:
  Runner(const Settings& settings, Console& console);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();

  // Returns the exit code. What has not ended by then (a thread in the store, a process that
  // cannot be killed) is left behind: leave by _exit.
  int run();

 private:
  // What the library's threads leave for the loop.
  struct Inbox;

  // Setting up (runner.cc).
  int set_up();
  bool spawn_guardian();
  void open_store();
  void store_opened();
  Result<void> stand();
  void loop();
  void arm();
  void handle_due();
  void handle_inbox();
  void check_timeout(Instant now);
  [[nodiscard]] Instant give_up_at() const;
  void show_waiting(Instant now);
  void feed_watchdog(Instant now);

  // Ending (runner_end.cc).
  void begin_end(int code, const std::string& why);
  void wind_up();
  void ask_election_to_stop(Duration limit);
  void end_work(TermEnd end);
  void restart_later(Duration wait);
  [[nodiscard]] Duration stop_limit() const;
  [[nodiscard]] bool may_exit(Instant now) const;

  // One run (runner_run.cc).
  void accept_term(Leadership term, TermEnd end);
  bool send_start();
  void abandon_run();
  void handle_guardian();
  void handle_message(const guardian::Message& message);
  void command_failed(int error);
  void guardian_ended();
  void told();
  void ask_to_stop();
  void kill_run();
  void take_over(const char* why);
  void sweep();
  void finish_run();
  void after_own_end(const CommandRun& run, Duration ran);
  void send_deadline();
  void judge_guardian();
  [[nodiscard]] Instant take_over_due() const;

  // Signals and events (runner_input.cc).
  void handle_signals();
  void handle_signal(int signal, bool from_terminal);
  void reap();
  bool stop_self(bool whole_job);
  void command_stopped();
  void say_status(const std::string& text);
  void handle_events();
  void handle(const Elected& elected);
  void handle(const Lost& lost);
  void handle(const HolderChanged& changed);
  void handle(const Trouble& trouble);
  void handle(const Stopped& stopped);

  [[nodiscard]] Instant now() const noexcept { return clock_.now(); }

  const Settings& settings_;
  Console& console_;
  Clock& clock_;
  Notifier notifier_;
  Pace pace_;
  std::shared_ptr<Inbox> inbox_;
  std::unique_ptr<Timer> timer_;
  int signals_ = -1;
  std::vector<pid_t> strangers_;  // children that an exec'd shell left us: not ours to kill

  std::unique_ptr<Runtime> runtime_;
  std::thread opener_;
  std::shared_ptr<LeaseStore> store_;
  std::shared_ptr<Election> election_;  // shared with tasks on the library's loop
  std::unique_ptr<GuardianLink> guardian_;
  Instant guardian_since_ = kLongAgo;
  int short_lives_ = 0;  // guardians that died young, one after the other
  std::optional<CommandRun> run_;
  Timing timing_;      // its grace is the command's own
  Duration margin_{};  // for killing after it, and before a deadline

  std::optional<int> exit_code_;
  Instant exit_limit_ = kNever;
  bool hurried_ = false;  // a second signal asked for the end
  bool is_stop_asked_ = false;
  bool election_stopped_ = false;
  Instant restart_at_ = kNever;

  Instant standing_since_ = kLongAgo;
  bool heard_ = false;  // the store has answered since we stand
  bool outage_ = false;
  std::string holder_;
  Instant progress_due_ = kNever;
  Instant watchdog_due_ = kNever;
};

}  // namespace tenure::cli
