// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <set>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

sockaddr_in address_of(const std::string& address, int port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(static_cast<std::uint16_t>(port));
  ::inet_pton(AF_INET, address.c_str(), &result.sin_addr);
  return result;
}

int tcp_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

// The inodes of sockets whose own port is `port`.
std::set<std::string> inodes_of(int port) {
  std::set<std::string> inodes;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string number, local, remote, word, inode;
    words >> number >> local >> remote;
    for (int skipped = 0; skipped < 6; ++skipped) words >> word;
    words >> inode;
    if (std::stoi(local.substr(local.find(':') + 1), nullptr, 16) == port) inodes.insert(inode);
  }
  return inodes;
}

}  // namespace

int listen_on(const std::string& address, int port) {
  const int fd = tcp_socket();
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in where = address_of(address, port);
  if (::bind(fd, as_sockaddr(&where), sizeof where) == 0 && ::listen(fd, 128) == 0) return fd;
  ::close(fd);
  return -1;
}

int begin_connect(std::string_view endpoint) {
  const auto colon = endpoint.rfind(':');
  if (colon == std::string_view::npos) return -1;
  int port = 0;
  const std::string_view digits = endpoint.substr(colon + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), port);
  sockaddr_in where = address_of(std::string(endpoint.substr(0, colon)), port);
  const int fd = tcp_socket();
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::connect(fd, as_sockaddr(&where), sizeof where) == 0 || errno == EINPROGRESS) return fd;
  ::close(fd);
  return -1;
}

int peer_port(int fd) {
  sockaddr_in from{};
  socklen_t size = sizeof from;
  ::getpeername(fd, as_sockaddr(&from), &size);
  return ntohs(from.sin_port);
}

bool owns_port(pid_t pid, int port) {
  const std::set<std::string> inodes = inodes_of(port);
  std::error_code error;
  fs::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code closed;  // meanwhile: not the one that is looked for
    const std::string target = fs::read_symlink(entry->path(), closed).string();
    constexpr std::string_view kSocket = "socket:[";
    if (!target.starts_with(kSocket)) continue;
    if (inodes.contains(target.substr(kSocket.size(), target.size() - kSocket.size() - 1))) {
      return true;
    }
  }
  return false;
}

}  // namespace tenure::test
