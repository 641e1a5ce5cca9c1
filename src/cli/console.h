// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::cli {

enum class Level { error, warning, info, debug };

// What people read: one plain line for each thing that happened, on standard error, each in a
// single write so that lines of several processes do not mix. Never waits: a terminal that was
// halted (Ctrl-S) or a pipe that nobody reads loses lines, and the next one says how many.
class Console {
 public:
  // `subject` (an election's name, or nothing) begins every line.
  Console(Level level, std::string subject);

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
  Level level_;
  std::string prefix_;
  bool progress_;
  bool progress_shown_ = false;
  std::size_t lost_ = 0;
};

// Writes all of `text` to `fd`; false if that is not possible (closed, full). Retries when
// interrupted.
bool write_all(int fd, std::string_view text) noexcept;

// `text` for a terminal or a log: at most 60 bytes, control characters as '?', in quotes.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace tenure::cli
