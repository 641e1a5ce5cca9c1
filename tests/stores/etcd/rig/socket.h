// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>

namespace tenure::test {

/// The cast that the socket interface wants.
template <typename Address>
[[nodiscard]] sockaddr* as_sockaddr(Address* address) noexcept {
  return reinterpret_cast<sockaddr*>(address);
}

/// A listening, non-blocking socket, or -1.
[[nodiscard]] int listen_on(const std::string& address, int port);

/// A non-blocking socket on its way to "ADDRESS:PORT" (numeric IPv4), or -1: writable when it is
/// connected or has failed.
[[nodiscard]] int begin_connect(std::string_view endpoint);

/// The port of the other side of a connection.
[[nodiscard]] int peer_port(int fd);

/// Whether process `pid` has a TCP socket of this host bound to `port`: tells who has made a
/// connection. For processes of the same user, or as root.
[[nodiscard]] bool owns_port(pid_t pid, int port);

}  // namespace tenure::test
