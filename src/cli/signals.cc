// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.h"

#include "cli/exit_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sys/signalfd.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

// Blocking these would only turn a fault into a sudden end without its reason.
constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};

constexpr std::array kEnding{SIGTERM, SIGINT, SIGHUP, SIGQUIT};

sigset_t handled() noexcept {
  sigset_t set;
  sigfillset(&set);
  for (const int fault : kFaults) sigdelset(&set, fault);
  return set;
}

}  // namespace

void take_over_signals() noexcept {
  const sigset_t set = handled();
  sigprocmask(SIG_SETMASK, &set, nullptr);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

int open_signal_fd() noexcept {
  const sigset_t set = handled();
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void give_back_signals(bool hangup_was_ignored) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (signal == SIGHUP && hangup_was_ignored) continue;
    sigaction(signal, &action, nullptr);  // fails for KILL, STOP and libc's own, as it should
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void exit_at_signals() noexcept {
  struct sigaction action {};
  action.sa_handler = [](int signal) { _exit(kSignalBase + signal); };
  for (const int signal : kEnding) {
    if (signal != SIGHUP || !hangup_ignored()) sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool hangup_ignored() noexcept {
  struct sigaction action {};
  return sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool is_ending_signal(int signal) noexcept {
  return std::find(kEnding.begin(), kEnding.end(), signal) != kEnding.end();
}

std::string signal_name(int signal) {
  if (const char* name = sigabbrev_np(signal)) return std::string("SIG") + name;
  return "signal " + std::to_string(signal);
}

}  // namespace tenure::cli
