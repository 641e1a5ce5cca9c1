// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fcntl.h>
#include <unistd.h>

namespace tenure::cli {

Terminal::~Terminal() {
  if (fd_ >= 0) close(fd_);
}

int Terminal::descriptor() noexcept {
  if (fd_ == -2) fd_ = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  return fd_ < 0 ? -1 : fd_;
}

bool Terminal::present() noexcept { return descriptor() >= 0; }

int Terminal::to_hand_over() noexcept {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return -1;
  return present() && tcgetpgrp(fd_) == job_group_ ? fd_ : -1;
}

bool Terminal::give_to(pid_t group) noexcept {
  if (!present() || tcgetpgrp(fd_) != job_group_) return false;
  return tcsetpgrp(fd_, group) == 0;
}

void Terminal::give_again() noexcept {
  if (command_group_ >= 0) give_to(command_group_);
}

void Terminal::restore() noexcept {
  if (fd_ >= 0) tcsetpgrp(fd_, job_group_);
}

bool Terminal::take_back() noexcept {
  if (fd_ < 0 || command_group_ < 0 || tcgetpgrp(fd_) != command_group_) return false;
  return tcsetpgrp(fd_, job_group_) == 0;
}

void Terminal::witness(pid_t group) noexcept {
  command_group_ = group;
  setpgid(0, group);
}

void Terminal::leave_group() noexcept {
  take_back();
  if (command_group_ >= 0) setpgid(0, 0);
}

}  // namespace tenure::cli
