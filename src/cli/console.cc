// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include <cerrno>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace tenure::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";
constexpr std::size_t kShownBytes = 60;

bool can_write(int fd) noexcept {
  pollfd ready{fd, POLLOUT, 0};
  return poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}

}  // namespace

Console::Console(Level level, std::string subject)
    : level_(level),
      prefix_(subject.empty() ? "tenure: " : "tenure: " + std::move(subject) + ": "),
      progress_(level >= Level::info && isatty(STDERR_FILENO) != 0) {}

void Console::say(Level level, std::string_view text) {
  if (level > level_) return;
  if (!can_write(STDERR_FILENO)) {
    ++lost_;
    return;
  }
  std::string line(progress_shown_ ? kEraseLine : "");
  progress_shown_ = false;
  if (const std::size_t lost = std::exchange(lost_, 0); lost > 0) {
    line += prefix_ + "(lines that could not be written: " + std::to_string(lost) + ")\n";
  }
  line += prefix_;
  line += text;
  line += '\n';
  write_all(STDERR_FILENO, line);
}

void Console::progress(std::string_view text) {
  if (!progress_ || !can_write(STDERR_FILENO)) return;
  progress_shown_ = true;
  write_all(STDERR_FILENO, std::string(kEraseLine) + prefix_ + std::string(text));
}

void Console::clear_progress() {
  if (std::exchange(progress_shown_, false) && can_write(STDERR_FILENO)) {
    write_all(STDERR_FILENO, kEraseLine);
  }
}

bool write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote > 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (wrote < 0 && errno == EAGAIN) {
      // Somebody made our output non-blocking. A reader that is slower than a second loses it.
      pollfd ready{fd, POLLOUT, 0};
      if (poll(&ready, 1, 1000) == 0) return false;
    } else if (wrote == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::string quoted(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, kShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20U || byte == 0x7FU ? '?' : c;
  }
  return shown + (text.size() > kShownBytes ? "...'" : "'");
}

}  // namespace tenure::cli
