// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/eventually.h"

namespace tenure::test {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

/// A connection that carries one request after the other, as much HTTP/1.1 as etcd's gateway needs.
/// Every fault is a RigError: refused, closed, or no whole answer within `limit`.
class HttpConnection {
 public:
  /// Connects at the first request. `endpoint`: "ADDRESS:PORT".
  explicit HttpConnection(std::string endpoint, Duration limit = kPatience);
  ~HttpConnection();
  HttpConnection(HttpConnection&& other) noexcept;
  HttpConnection& operator=(HttpConnection&&) = delete;

  HttpAnswer get(std::string_view path);
  /// `headers`: whole lines without their end.
  HttpAnswer post(std::string_view path, std::string_view body,
                  const std::vector<std::string>& headers = {});

 private:
  HttpAnswer exchange(const std::string& request);
  void connect();
  void wait_for(short events);
  void read_more();
  std::string take_line();
  std::string take(std::size_t size);

  std::string endpoint_;
  Duration limit_;
  int fd_ = -1;
  Stopwatch watch_;     // since the current request was begun
  std::string buffer_;  // received and not yet used
};

}  // namespace tenure::test
