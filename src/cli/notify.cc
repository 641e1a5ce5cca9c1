// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/notify.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

// A larger one than can be held wants a reminder so rarely that none is needed.
constexpr std::uint64_t kMostMicroseconds = 1'000'000'000'000;  // eleven days
// A shorter interval would be all that this process does, and could not be kept anyway.
constexpr Duration kLeastInterval = std::chrono::milliseconds(10);

std::optional<std::uint64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end || value == 0) return std::nullopt;
  return value;
}

}  // namespace

Notifier::Notifier() {
  const char* address = std::getenv("NOTIFY_SOCKET");
  if (address == nullptr || (*address != '/' && *address != '@')) return;
  address_ = address;
  if (address_.size() >= sizeof(sockaddr_un::sun_path)) return;
  fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto interval = number_in("WATCHDOG_USEC");
  const auto pid = number_in("WATCHDOG_PID");
  const bool ours = !pid || *pid == static_cast<std::uint64_t>(getpid());
  if (interval && *interval <= kMostMicroseconds && ours) {
    watchdog_ = std::max<Duration>(std::chrono::microseconds(*interval) / 2, kLeastInterval);
  }
}

Notifier::~Notifier() {
  if (fd_ >= 0) close(fd_);
}

void Notifier::send(std::string_view states) noexcept {
  if (fd_ < 0) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  // '@' stands for the NUL byte that begins an abstract name.
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  // The address is a variant type in C: this cast is how the call is made.
  sendto(fd_, states.data(), states.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
         reinterpret_cast<const sockaddr*>(&to), size);
}

}  // namespace tenure::cli
