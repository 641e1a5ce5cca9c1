// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unistd.h>

namespace tenure::cli {

// Writes to a file that others write to and read from, and never waits for them: not for a terminal
// that was halted (Ctrl-S), not for a pipe that nobody reads.
class Outlet {
 public:
  explicit Outlet(int fd) noexcept;
  Outlet(const Outlet&) = delete;
  Outlet& operator=(const Outlet&) = delete;
  ~Outlet();

  // At most kMost bytes, as a whole; false: not now.
  bool write_now(std::string_view text) noexcept;

  // What pipes take as a whole.
  static constexpr std::size_t kMost = 4096;

 private:
  int fd_;
  int own_ = -1;  // the same file opened again: not to wait is a property that others would share
  bool is_socket_ = false;
};

enum class Level { error, warning, info, debug };

// What people read: one plain line for each thing that happened, on standard error, each in a
// single write so that lines of several processes do not mix. Never waits: lines that cannot be
// written are lost, and the next one says how many. Names and ids may come from other programs:
// everything is shown as by shown().
class Console {
 public:
  // `subject` (an election's name, or nothing) begins every line.
  Console(Level level, std::string_view subject, int fd = STDERR_FILENO);

  void error(std::string_view text) { say(Level::error, text); }
  void warning(std::string_view text) { say(Level::warning, text); }
  void info(std::string_view text) { say(Level::info, text); }
  void debug(std::string_view text) { say(Level::debug, text); }
  void say(Level level, std::string_view text);

  // A line that is rewritten in place, for long waits: only on a terminal, and not below info.
  [[nodiscard]] bool shows_progress() const noexcept { return progress_; }
  void progress(std::string_view text);
  void clear_progress();

 private:
  Outlet outlet_;
  Level level_;
  std::string prefix_;
  bool progress_;
  bool progress_shown_ = false;
  std::size_t lost_ = 0;
};

// Writes all of `text` to `fd`, however long that takes; false if that is not possible (closed,
// full). For commands that a signal ends meanwhile.
bool write_all(int fd, std::string_view text) noexcept;

// `text` for a terminal or a log: what would do something else there than be read, and what is not
// UTF-8, is written as \xNN or \uNNNN: control characters (line feeds too), and those that change
// the direction of writing, end a line or have no width.
[[nodiscard]] std::string shown(std::string_view text);

// At most 60 bytes of it, as shown(), in quotes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace tenure::cli
