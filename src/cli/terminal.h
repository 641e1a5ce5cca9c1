// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace tenure::cli {

// The guardian's part in job control. The command has a process group of its own; while the job
// that `tenure` belongs to has the terminal, the command gets it, as a shell would give it.
class Terminal {
 public:
  explicit Terminal(pid_t job_group) noexcept : job_group_(job_group) {}
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  // Whether the session has a terminal.
  [[nodiscard]] bool present() noexcept;

  // The terminal's descriptor if a new command should have it from its first instruction: the job
  // is in the foreground and both input and output are terminals. -1: not. (In `tenure ... | less`
  // the pager needs the terminal; there the command gets it only when it reads from it.)
  [[nodiscard]] int to_hand_over() noexcept;

  // Gives the terminal to `group` if the job has it; whether that was done.
  bool give_to(pid_t group) noexcept;

  // Gives it to the command's group again, if that had it before and the job has it now.
  void give_again() noexcept;

  // Gives it to the job, whoever has it: after a command that never ran.
  void restore() noexcept;

  // Gives it back to the job if the command has it; whether that was done.
  bool take_back() noexcept;

  // Joins the command's group, to hear what the terminal sends to it (and so that the group does
  // not count as orphaned, whose members the kernel would not stop).
  void witness(pid_t group) noexcept;

  // Leaves it again, before the group is killed.
  void leave_group() noexcept;

 private:
  [[nodiscard]] int descriptor() noexcept;

  pid_t job_group_;
  pid_t command_group_ = -1;
  int fd_ = -2;  // -2: not looked for yet
};

}  // namespace tenure::cli
