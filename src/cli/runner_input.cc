// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.h"
#include "cli/runner.h"
#include "cli/signals.h"

#include <csignal>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <variant>

namespace tenure::cli {

void Runner::handle_signals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof info) == ssize_t{sizeof info}) {
    handle_signal(static_cast<int>(info.ssi_signo), false);
  }
}

void Runner::handle_signal(int signal, bool from_terminal) {
  const bool interrupt = signal == SIGINT || signal == SIGQUIT;
  if (from_terminal && interrupt) {
    // The command has it too, and may be an editor or a shell to which it means something else:
    // what matters is whether the command ends now.
    run_->interrupted = signal;
    run_->interrupted_at = now();
    return;
  }
  if (is_ending_signal(signal)) {
    if (signal == SIGHUP && hangup_ignored()) return;
    if (!exit_code_) return begin_end(kSignalBase + signal, signal_name(signal) + ": ending");
    hurried_ = true;
    console_.info(signal_name(signal) +
                  " again: " + (run_ ? "killing the command" : "not waiting for the store"));
    if (!run_) return wind_up();
    return kill_run();
  }
  switch (signal) {
    case SIGCHLD:
      reap();
      break;
    case SIGUSR1:
      if (!election_ || exit_code_) break;
      console_.info(run_ ? "SIGUSR1: yielding" : "SIGUSR1: not leading, nothing to yield");
      election_->yield();
      if (run_) ask_to_stop();
      break;
    case SIGTSTP:
      if (run_ && guardian_) guardian_->send(guardian::Verb::signal, SIGTSTP);
      stop_self(false);
      if (run_ && guardian_) guardian_->send(guardian::Verb::resume);
      break;
    case SIGTTIN:
    case SIGTTOU:
    case SIGPIPE:
      break;  // about our own terminal and files, not the command's
    default:
      if (run_ && guardian_) guardian_->send(guardian::Verb::signal, signal);
  }
}

// Strangers too: as process 1, or as the nearest subreaper, nobody else would.
void Runner::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    std::erase(strangers_, pid);
    if (guardian_ && pid == guardian_->pid()) {
      handle_guardian();  // what it said before it ended
      if (guardian_ && pid == guardian_->pid()) guardian_ended();
    }
  }
}

// The command was stopped by the terminal: with it the whole job, as the shell sees it. Where no
// shell is left to continue the job, the kernel does not stop it either, and to let the command go
// on would only have it ask again. What the kernel does with a stopped job that loses its shell is
// done instead, once: a hang-up.
void Runner::command_stopped() {
  const bool continued = stop_self(true);
  if (!run_ || !guardian_) return;
  if (!continued) {
    if (std::exchange(run_->hung_up, true)) {
      console_.warning("the command stays stopped: it wants a terminal that it cannot get");
      return;
    }
    guardian_->send(guardian::Verb::signal, SIGHUP);
  }
  guardian_->send(guardian::Verb::resume);
}

// As if the terminal's stop key had reached this process with its default effect: the shell sees
// the job stopped, and `fg` or `bg` brings it back here.
// False: it was not stopped, since nobody could continue it.
bool Runner::stop_self(bool whole_job) {
  console_.clear_progress();
  kill(whole_job ? 0 : getpid(), SIGTSTP);
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGTSTP, &action, nullptr);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

// What is to end is not said to be on its way to anything else.
void Runner::say_status(const std::string& text) {
  if (!exit_code_) notifier_.status(text);
}

void Runner::handle_events() {
  while (election_) {
    const auto event = election_->next_event();
    if (!event) return;
    std::visit([this](const auto& body) { handle(body); }, event->body);
    if (election_stopped_ && !exit_code_) {
      election_stopped_ = false;
      election_.reset();
    }
  }
}

void Runner::handle(const Elected& elected) {
  heard_ = true;
  outage_ = false;
  holder_.clear();
  console_.info("elected, token " + std::to_string(elected.leadership.token()));
}

void Runner::handle(const Lost& lost) {
  const bool wanted = lost.reason == LossReason::yielded || lost.reason == LossReason::stopped;
  std::string text = "no longer leading: " + std::string(to_string(lost.reason));
  if (!lost.detail.empty()) text += ": " + lost.detail;
  console_.say(wanted ? Level::info : Level::warning, text);
  if (run_ && !wanted && run_->term.token() == lost.token) kill_run();
}

void Runner::handle(const HolderChanged& changed) {
  heard_ = true;
  holder_ = changed.holder;
  if (run_ || exit_code_ || election_->held()) return;
  console_.info(changed.holder.empty() ? "waiting; nobody leads"
                                       : "waiting; " + quoted(changed.holder) + " leads (token " +
                                             std::to_string(changed.token) + ")");
}

void Runner::handle(const Trouble& trouble) {
  if (trouble.of_work) {
    // Asked first: after a pause of this process it has ended long ago.
    handle_guardian();
    if (run_) console_.warning("the command goes on although its term is over");
    return;
  }
  outage_ = !trouble.recovered;
  if (trouble.recovered) {
    heard_ = true;
    console_.info("the store answers again");
  } else {
    console_.warning("store: " + trouble.error.message);
  }
}

void Runner::handle(const Stopped& stopped) {
  election_stopped_ = true;
  if (is_stop_asked_) {
    if (stopped.error) console_.warning("ended with the store in doubt: " + stopped.error->message);
  } else {
    begin_end(stopped.error ? exit_code_of(*stopped.error) : kUnavailable,
              stopped.error ? stopped.error->message : "the election ended");
  }
}

}  // namespace tenure::cli
