// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::cli {

std::vector<std::string> environment_for(const ElectionOptions& election) {
  constexpr std::array<std::string_view, 7> kDropped{
      "TENURE_NAME",   "TENURE_ID",     "TENURE_TOKEN", "TENURE_TTL_MS",
      "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (std::find(kDropped.begin(), kDropped.end(), name) == kDropped.end()) {
      variables.emplace_back(text);
    }
  }
  variables.push_back("TENURE_NAME=" + election.name);
  variables.push_back("TENURE_ID=" + election.id);
  return variables;
}

void fill_standard_descriptors() noexcept {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // Takes the lowest free number, which is this one.
    if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0) return;
  }
}

void waitpid_quietly(pid_t pid) noexcept {
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tenure::cli
