// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/proxy_stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenure::test {
namespace {

constexpr std::size_t kMostWaiting = 4U << 20;

bool again() noexcept { return errno == EAGAIN || errno == EINTR; }

}  // namespace

Instant rig_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return Instant(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

void Pipe::set(Direction direction) {
  direction_ = direction;
  if (direction_.flow != Flow::swallow) return;
  swallowed_ += waiting_;
  waiting_ = 0;
  std::erase_if(chunks_, [](const Chunk& chunk) { return !chunk.bytes.empty(); });
}

bool Pipe::move(int from, int to, Instant now) {
  if (direction_.flow == Flow::hold) return true;
  if (wants_read() && !read(from, now)) return false;
  return write(to, now);
}

bool Pipe::read(int from, Instant now) {
  std::array<char, 65'536> bytes;
  while (wants_read()) {
    const ssize_t size = ::recv(from, bytes.data(), bytes.size(), 0);
    if (size < 0 && again()) return true;
    // A reset, too, gets lost in a black hole: it is kept as the end of the stream.
    if (size < 0 && passes()) return false;
    const auto count = static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    if (direction_.flow == Flow::swallow && count > 0) {
      swallowed_ += count;
      continue;
    }
    chunks_.push_back({saturating_add(now, direction_.delay), std::string(bytes.data(), count)});
    waiting_ += count;
    end_seen_ = count == 0;
  }
  return true;
}

bool Pipe::write(int to, Instant now) {
  while (wants_write(now)) {
    std::string& bytes = chunks_.front().bytes;
    if (bytes.empty()) {
      ::shutdown(to, SHUT_WR);
      end_passed_ = true;
      chunks_.pop_front();
      continue;
    }
    const ssize_t size = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0) return again();
    passed_ += static_cast<std::uint64_t>(size);
    waiting_ -= static_cast<std::size_t>(size);
    bytes.erase(0, static_cast<std::size_t>(size));
    if (bytes.empty()) chunks_.pop_front();
  }
  return true;
}

bool Pipe::wants_read() const noexcept {
  return direction_.flow != Flow::hold && !end_seen_ && waiting_ < kMostWaiting;
}

// The end of a stream is a packet like any other: in a black hole it gets lost.
bool Pipe::wants_write(Instant now) const noexcept {
  return passes() && !chunks_.empty() && chunks_.front().due <= now;
}

Instant Pipe::next_due() const noexcept {
  return passes() && !chunks_.empty() ? chunks_.front().due : kNever;
}

Stream::Stream(int client, int server, int group)
    : client_(client), server_(server), group_(group) {
  const int yes = 1;
  ::setsockopt(client_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (server_ < 0) reset();
}

Stream::~Stream() {
  if (!ended()) reset();
}

void Stream::set(Link link) {
  to_server_.set(link.to_server);
  to_client_.set(link.to_client);
  if ((to_server_.lost() && to_server_.passes()) || (to_client_.lost() && to_client_.passes())) {
    reset();
  }
}

void Stream::move(Instant now) {
  if (ended()) return;
  if (!connected_) {
    pollfd ready{server_, POLLOUT, 0};
    if (::poll(&ready, 1, 0) != 1) return;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(server_, SOL_SOCKET, SO_ERROR, &error, &size);
    connected_ = error == 0;
    if (!connected_) return reset();
  }
  if (!to_server_.move(client_, server_, now) || !to_client_.move(server_, client_, now)) {
    return reset();
  }
  if (to_server_.ended() && to_client_.ended()) close_both(false);
}

void Stream::want(std::vector<pollfd>& wanted, Instant now) const {
  if (ended()) return;
  if (!connected_) {
    wanted.push_back({server_, POLLOUT, 0});
    return;
  }
  const auto events = [&](const Pipe& in, const Pipe& out) {
    return static_cast<short>((in.wants_read() ? POLLIN : 0) |
                              (out.wants_write(now) ? POLLOUT : 0));
  };
  const short client = events(to_server_, to_client_);
  const short server = events(to_client_, to_server_);
  // A socket that is asked for nothing would still report a hang-up, again and again.
  if (client != 0) wanted.push_back({client_, client, 0});
  if (server != 0) wanted.push_back({server_, server, 0});
}

Instant Stream::next_due(Instant now) const noexcept {
  // What is due already waits for a socket, not for time.
  Instant next = kNever;
  for (const Instant due : {to_server_.next_due(), to_client_.next_due()}) {
    if (due > now) next = std::min(next, due);
  }
  return next;
}

void Stream::reset() { close_both(true); }

void Stream::close_both(bool with_reset) {
  for (int* fd : {&client_, &server_}) {
    if (*fd < 0) continue;
    const linger at_once{1, 0};
    if (with_reset) ::setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(*fd);
    *fd = -1;
  }
}

}  // namespace tenure::test
