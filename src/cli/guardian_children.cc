// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of the guardian that deals with what it guards.
#include "cli/descendants.h"
#include "cli/guardian_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::cli::guardian {

void Guardian::look_at_children() {
  if (state_ == State::waiting || state_ == State::over) return;
  // The command stays a zombie until all else is gone: its number, and so its group's, cannot go
  // to a stranger while signals are sent to it.
  siginfo_t info{};
  while (!command_ended_) {
    info.si_pid = 0;
    const auto id = static_cast<id_t>(pid_);
    if (waitid(P_PID, id, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == pid_) {
      command_stopped(info.si_status);
      continue;
    }
    info.si_pid = 0;
    if (waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_) break;
    command_ended_ = true;
    terminal_.take_back();
    const int status = info.si_code == CLD_EXITED ? (info.si_status & 0xFF) << 8 : info.si_status;
    say(Verb::ended, status);
  }
  bool alone = true;
  for (const pid_t child : children_of_this_process()) {
    if (child != pid_ && waitpid(child, nullptr, WNOHANG) != child) alone = false;
  }
  if (alone && command_ended_) finish();
  if (command_ended_ && (state_ == State::running || state_ == State::stopping)) ask_leftovers();
}

void Guardian::finish() {
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  pid_ = -1;
  // The list of children is read from /proc; this is the kernel's own word.
  if (waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD) {
    begin_killing();
    return;
  }
  say(Verb::gone);
  state_ = State::over;
}

void Guardian::command_stopped(int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (wants_terminal && terminal_.give_to(pid_)) {
    terminal_.witness(pid_);
    kill(-pid_, SIGCONT);
    return;
  }
  const bool by_terminal = terminal_.present() && (wants_terminal || signal == SIGTSTP);
  if (terminal_.take_back() || by_terminal) say(Verb::stopped, signal);
}

void Guardian::ask_to_stop() {
  state_ = State::stopping;
  stop_asked_at_ = boot_now();
  kill(-pid_, SIGTERM);
  kill(-pid_, SIGCONT);  // what is stopped could not act on it
}

// The command has ended: what it left behind must not outlive the term either.
void Guardian::ask_leftovers() {
  if (state_ == State::running) ask_to_stop();
  for (const pid_t child : children_of_this_process()) {
    if (child == pid_ || getpgid(child) == pid_) continue;
    if (std::find(asked_.begin(), asked_.end(), child) != asked_.end()) continue;
    asked_.push_back(child);
    kill(child, SIGTERM);
    kill(child, SIGCONT);
  }
}

void Guardian::begin_killing() {
  if (state_ == State::over) return;
  state_ = State::killing;
  terminal_.leave_group();
}

void Guardian::sweep() {
  if (pid_ > 0) kill(-pid_, SIGKILL);
  signal_children(SIGKILL);
  look_at_children();
}

}  // namespace tenure::cli::guardian
