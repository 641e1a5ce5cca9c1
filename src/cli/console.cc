// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"

#include "core/utf8.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <utility>

namespace tenure::cli {
namespace {

constexpr std::string_view kEraseLine = "\r\033[K";
constexpr std::size_t kShownBytes = 60;

bool can_write(int fd) noexcept {
  pollfd ready{fd, POLLOUT, 0};
  return poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Controls, soft hyphen, direction marks, invisible and filling characters, line and paragraph
// separators, overrides and isolates, tags.
constexpr std::array kHidden{
    Range{0, 0x1F},        Range{0x7F, 0x9F},     Range{0xAD, 0xAD},     Range{0x34F, 0x34F},
    Range{0x61C, 0x61C},   Range{0x115F, 0x1160}, Range{0x17B4, 0x17B5}, Range{0x180B, 0x180F},
    Range{0x200B, 0x200F}, Range{0x2028, 0x202E}, Range{0x2060, 0x206F}, Range{0x3164, 0x3164},
    Range{0xFEFF, 0xFEFF}, Range{0xFFA0, 0xFFA0}, Range{0xFFF0, 0xFFFB}, Range{0xE0000, 0xE007F}};

bool is_hidden(std::uint32_t point) noexcept {
  return std::any_of(kHidden.begin(), kHidden.end(), [point](const Range& range) {
    return point >= range.first && point <= range.last;
  });
}

void append_escape(std::string& out, char kind, std::uint32_t value, int digits) {
  out += '\\';
  out += kind;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out += "0123456789abcdef"[(value >> static_cast<unsigned>(shift)) & 0xFU];
  }
}

}  // namespace

Outlet::Outlet(int fd) noexcept : fd_(fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return;
  is_socket_ = S_ISSOCK(info.st_mode);
  // Regular files do not make anybody wait, and have a position that is shared.
  if (!S_ISFIFO(info.st_mode) && !S_ISCHR(info.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  own_ = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

Outlet::~Outlet() {
  if (own_ >= 0) close(own_);
}

bool Outlet::write_now(std::string_view text) noexcept {
  text = text.substr(0, kMost);
  ssize_t wrote = -1;
  do {
    if (is_socket_) {
      wrote = send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    } else if (own_ >= 0) {
      wrote = write(own_, text.data(), text.size());
    } else if (can_write(fd_)) {  // the best that can be had
      wrote = write(fd_, text.data(), text.size());
    } else {
      return false;
    }
  } while (wrote < 0 && errno == EINTR);
  return wrote > 0;
}

Console::Console(Level level, std::string_view subject, int fd)
    : outlet_(fd),
      level_(level),
      prefix_(subject.empty() ? "tenure: " : "tenure: " + shown(subject) + ": "),
      progress_(level >= Level::info && isatty(fd) != 0) {}

void Console::say(Level level, std::string_view text) {
  if (level > level_) return;
  std::string line(progress_shown_ ? kEraseLine : "");
  if (lost_ > 0)
    line += prefix_ + "(lines that could not be written: " + std::to_string(lost_) + ")\n";
  line += prefix_;
  line += shown(text);
  if (line.size() >= Outlet::kMost) {
    line.resize(Outlet::kMost - 4);
    line += "...";
  }
  line += '\n';
  if (outlet_.write_now(line)) {
    lost_ = 0;
    progress_shown_ = false;
  } else {
    ++lost_;
  }
}

void Console::progress(std::string_view text) {
  if (!progress_) return;
  progress_shown_ |= outlet_.write_now(std::string(kEraseLine) + prefix_ + shown(text));
}

void Console::clear_progress() {
  if (std::exchange(progress_shown_, false)) outlet_.write_now(kEraseLine);
}

bool write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote > 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (wrote < 0 && errno == EAGAIN) {  // somebody made our output non-blocking
      pollfd ready{fd, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (wrote == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

std::string shown(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const core::CodePoint next = core::decode_utf8(text, 0);
    const std::size_t bytes = std::max<std::size_t>(next.bytes, 1);
    if (next.bytes == 0 || (next.bytes == 1 && is_hidden(next.value))) {
      append_escape(out, 'x', static_cast<unsigned char>(text[0]), 2);
    } else if (is_hidden(next.value)) {
      const bool wide = next.bytes == 4;
      append_escape(out, wide ? 'U' : 'u', next.value, wide ? 8 : 4);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string quoted(std::string_view text) {
  const bool longer = text.size() > kShownBytes;
  text = text.substr(0, kShownBytes);
  // Not through the middle of a character.
  while (longer && !text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) {
    text.remove_suffix(1);
  }
  if (longer && !text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) {
    text.remove_suffix(1);
  }
  return "'" + shown(text) + (longer ? "...'" : "'");
}

}  // namespace tenure::cli
