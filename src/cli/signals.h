// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <string>

namespace tenure::cli {

// Blocks every signal that can be blocked (faults excepted) in the calling thread, and in those it
// starts, and undoes inherited dispositions that would lose information: SIGCHLD ignored by the
// parent loses exit codes, SIGPIPE would end us at a closed terminal. Call before any thread.
void take_over_signals() noexcept;

// A descriptor that reads the blocked signals as signalfd_siginfo; -1 and errno on failure.
[[nodiscard]] int open_signal_fd() noexcept;

// What a child expects to find: nothing blocked, everything default, except SIGHUP if it was
// ignored when we were started (nohup). Async-signal-safe: for use between vfork and exec.
void give_back_signals(bool hangup_ignored) noexcept;

// Gives signals back to a program that has nothing to end in order, but whose end is to be told
// from others by its code: TERM, INT, HUP and QUIT end it at once with 128 + n, wherever it is, in
// a write that nobody reads or in a store that hangs. To be called after take_over_signals().
void exit_at_signals() noexcept;

// Whether SIGHUP was ignored when this process was started.
[[nodiscard]] bool hangup_ignored() noexcept;

// TERM, INT, HUP and QUIT: end everything in order.
[[nodiscard]] bool is_ending_signal(int signal) noexcept;

// "SIGTERM"; "signal 40" where there is no name.
[[nodiscard]] std::string signal_name(int signal);

}  // namespace tenure::cli
