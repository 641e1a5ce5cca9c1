// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "cli/guardian_protocol.h"

namespace tenure::cli {

// `tenure`'s end of the line to one guardian process.
class GuardianLink {
 public:
  // Starts a guardian that will run `command` with `environment` ("NAME=value" each). It is ready
  // when the first message reaches it; nothing has to be waited for.
  static Result<std::unique_ptr<GuardianLink>> spawn(const std::vector<std::string>& command,
                                                     const std::vector<std::string>& environment);

  GuardianLink(const GuardianLink&) = delete;
  GuardianLink& operator=(const GuardianLink&) = delete;
  // Closes the line: a guardian that has started its command kills it.
  ~GuardianLink();

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  // False if the guardian cannot take it (it has ended, or is stopped and its queue is full).
  // Never waits. `passed` >= 0 is handed over with the message.
  bool send(const guardian::Message& message, int passed = -1) noexcept;
  bool send(guardian::Verb verb, int number = 0) noexcept;

  // The next message, if one has come; `closed` turns true when the guardian has ended.
  std::optional<guardian::Message> receive(bool& closed) noexcept;

  // Kills the guardian itself. The kernel then kills its command, and whatever else descends from
  // it becomes this process's child.
  void kill() noexcept;

 private:
  GuardianLink(int fd, pid_t pid) noexcept : fd_(fd), pid_(pid) {}

  int fd_;
  pid_t pid_;
};

}  // namespace tenure::cli
