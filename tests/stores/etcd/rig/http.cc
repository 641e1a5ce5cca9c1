// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/http.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "tests/stores/etcd/rig/error.h"
#include "tests/stores/etcd/rig/socket.h"

namespace tenure::test {

HttpConnection::HttpConnection(std::string endpoint, Duration limit)
    : endpoint_(std::move(endpoint)), limit_(limit) {}

HttpConnection::HttpConnection(HttpConnection&& other) noexcept
    : endpoint_(std::move(other.endpoint_)),
      limit_(other.limit_),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)) {}

HttpConnection::~HttpConnection() {
  if (fd_ >= 0) ::close(fd_);
}

HttpAnswer HttpConnection::get(std::string_view path) {
  return exchange("GET " + std::string(path) + " HTTP/1.1\r\nHost: " + endpoint_ + "\r\n\r\n");
}

HttpAnswer HttpConnection::post(std::string_view path, std::string_view body,
                                const std::vector<std::string>& headers) {
  std::string request = "POST " + std::string(path) + " HTTP/1.1\r\nHost: " + endpoint_ + "\r\n";
  for (const std::string& header : headers) request += header + "\r\n";
  request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return exchange(request.append(body));
}

HttpAnswer HttpConnection::exchange(const std::string& request) {
  watch_ = Stopwatch();
  if (fd_ < 0) connect();
  for (std::size_t sent = 0; sent < request.size();) {
    wait_for(POLLOUT);
    const ssize_t size =
        ::send(fd_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno != EAGAIN) throw RigError(endpoint_ + ": " + std::strerror(errno));
    if (size > 0) sent += static_cast<std::size_t>(size);
  }

  HttpAnswer answer;
  const std::string first = take_line();
  answer.status = std::stoi(first.substr(first.find(' ') + 1));
  std::size_t length = 0;
  bool chunked = false;
  for (std::string line = take_line(); !line.empty(); line = take_line()) {
    std::transform(line.begin(), line.end(), line.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (line.starts_with("content-length:")) length = std::stoul(line.substr(15));
    if (line.starts_with("transfer-encoding:")) chunked = line.ends_with("chunked");
  }
  if (!chunked) {
    answer.body = take(length);
    return answer;
  }
  for (std::size_t size = 1; size > 0;) {
    size = std::stoul(take_line(), nullptr, 16);
    answer.body += take(size);
    take_line();
  }
  return answer;
}

void HttpConnection::connect() {
  fd_ = begin_connect(endpoint_);
  if (fd_ < 0) throw RigError(endpoint_ + ": cannot connect");
  wait_for(POLLOUT);
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) throw RigError(endpoint_ + ": " + std::strerror(error));
}

void HttpConnection::wait_for(short events) {
  const Duration left = std::max(limit_ - watch_.elapsed(), Duration::zero());
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  pollfd ready{fd_, events, 0};
  if (::poll(&ready, 1, static_cast<int>(ms)) != 1) throw RigError(endpoint_ + ": no answer");
}

void HttpConnection::read_more() {
  wait_for(POLLIN);
  std::array<char, 16'384> bytes{};
  const ssize_t size = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (size == 0) throw RigError(endpoint_ + ": closed before it had answered");
  if (size < 0 && errno != EAGAIN) throw RigError(endpoint_ + ": " + std::strerror(errno));
  if (size > 0) buffer_.append(bytes.data(), static_cast<std::size_t>(size));
}

std::string HttpConnection::take_line() {
  std::size_t end = std::string::npos;
  while ((end = buffer_.find("\r\n")) == std::string::npos) read_more();
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

std::string HttpConnection::take(std::size_t size) {
  while (buffer_.size() < size) read_more();
  std::string bytes = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return bytes;
}

}  // namespace tenure::test
