// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/port.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include "tests/stores/etcd/rig/error.h"
#include "tests/stores/etcd/rig/socket.h"

namespace tenure::test {
namespace {

constexpr int kFirst = 18'000;
constexpr int kCount = 14'000;

// An abstract socket name is one process's at a time, and free when that process is gone.
int reserve(int number) {
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "tenure-test-port-" + std::to_string(number);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd, as_sockaddr(&address), size) == 0) return fd;
  ::close(fd);
  return -1;
}

bool is_free(const std::string& address, int number) {
  const int fd = listen_on(address, number);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

}  // namespace

Port::Port(std::string address) : address_(std::move(address)) {
  // Programs that run side by side begin at different places.
  static std::atomic<int> next{static_cast<int>(::getpid()) * 97 % kCount};
  for (int tries = 0; tries < kCount; ++tries) {
    number_ = kFirst + next.fetch_add(1) % kCount;
    reservation_ = reserve(number_);
    if (reservation_ < 0) continue;
    if (is_free(address_, number_)) return;
    ::close(reservation_);
  }
  throw RigError("no free port of " + address_);
}

Port::Port(Port&& other) noexcept
    : address_(std::move(other.address_)),
      number_(other.number_),
      reservation_(std::exchange(other.reservation_, -1)) {}

Port::~Port() {
  if (reservation_ >= 0) ::close(reservation_);
}

std::string Port::endpoint() const { return address_ + ":" + std::to_string(number_); }

}  // namespace tenure::test
