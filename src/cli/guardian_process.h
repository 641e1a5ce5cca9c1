// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <sys/types.h>
#include <vector>

#include "cli/guardian_protocol.h"
#include "cli/terminal.h"

namespace tenure::cli::guardian {

inline constexpr std::int64_t kNeverNs = INT64_MAX;

// CLOCK_BOOTTIME in nanoseconds.
[[nodiscard]] std::int64_t boot_now() noexcept;

// The guardian is the command's parent. It exists because `tenure` itself may be stopped, hang or
// be killed, and the command must be dead by the deadline even then. So it is small: one thread, a
// loop over a socket, its signals and a timer, and no code of the library.
class Guardian {
 public:
  Guardian(int socket, pid_t job_group, char** command)
      : socket_(socket), terminal_(job_group), command_(command) {}

  int run();

 private:
  enum class State {
    waiting,   // for the word to start
    running,   // CMD runs
    stopping,  // TERM was sent; KILL follows at kill_due()
    killing,   // KILL is sent until nothing is left
    over,
  };

  // The loop, and what tenure says (guardian.cc).
  bool set_up() noexcept;
  void handle_socket();
  void handle(const Message& message);
  void handle_signals();
  void handle_timer();
  void start(const Message& message);
  void say(Verb verb, int number = 0) noexcept;
  [[nodiscard]] std::int64_t kill_due() const noexcept;
  [[nodiscard]] std::int64_t stop_due() const noexcept;
  [[nodiscard]] std::int64_t next_due() const noexcept;
  void arm() noexcept;

  // The command and its descendants (guardian_children.cc).
  void look_at_children();
  void command_stopped(int signal);
  void ask_to_stop();
  void ask_leftovers();
  void begin_killing();
  void sweep();
  void finish();

  int socket_;
  Terminal terminal_;
  char** const command_;
  int signals_ = -1;
  int timer_ = -1;
  int kept_fd_ = -1;  // the store's; the command inherits it
  State state_ = State::waiting;
  pid_t pid_ = -1;
  bool command_ended_ = false;
  std::int64_t deadline_ = kNeverNs;
  std::int64_t grace_ = 0;
  std::int64_t margin_ = 0;
  std::int64_t stop_asked_at_ = kNeverNs;
  std::vector<pid_t> asked_;  // orphans that were sent TERM
};

}  // namespace tenure::cli::guardian
