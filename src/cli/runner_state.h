// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cli/runner.h"

namespace tenure::cli {

// Shared with callbacks, which may outlive the Runner.
struct Runner::Inbox {
  Inbox() : bell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() {
    if (bell >= 0) close(bell);
  }

  void ring() const noexcept { eventfd_write(bell, 1); }

  const int bell;
  std::mutex mutex;
  std::vector<std::pair<Leadership, TermEnd>> terms;
  std::optional<Result<std::shared_ptr<LeaseStore>>> opened;  // guarded by mutex
  std::atomic<bool> told{false};
  std::atomic<bool> loop_alive{true};  // the library's loop has run what was last posted
};

}  // namespace tenure::cli
