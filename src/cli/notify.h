// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <optional>
#include <string>
#include <string_view>

namespace tenure::cli {

// The service manager's side channel (sd_notify(3)): states such as "READY=1" in a datagram to the
// socket named by NOTIFY_SOCKET. Without that variable every call does nothing.
class Notifier {
 public:
  // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
  Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  ~Notifier();

  // One or more assignments, separated by newlines. Never waits; a manager that does not read
  // loses it.
  void send(std::string_view states) noexcept;
  void status(const std::string& text) { send("STATUS=" + text); }

  // How often the manager wants to hear that there is progress: half of what it allows, but not
  // more often than every 10 ms. Nothing: it does not watch this process (systemd's "infinity"
  // included).
  [[nodiscard]] std::optional<Duration> watchdog_interval() const noexcept { return watchdog_; }

 private:
  std::string address_;
  int fd_ = -1;
  std::optional<Duration> watchdog_;
};

}  // namespace tenure::cli
