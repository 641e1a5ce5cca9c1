// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tenure::test {

/// A port number that nobody listens on, kept from the other test programs of this host for as
/// long as the object lives: a server may be stopped and started on it again. Below the range that
/// the kernel takes the ports of outgoing connections from.
class Port {
 public:
  explicit Port(std::string address = "127.0.0.1");
  ~Port();
  Port(Port&& other) noexcept;
  Port& operator=(Port&&) = delete;

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  /// "ADDRESS:NUMBER"
  [[nodiscard]] std::string endpoint() const;

 private:
  std::string address_;
  int number_ = 0;
  int reservation_ = -1;
};

}  // namespace tenure::test
