// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace tenure::test {

/// Whether every other thread of this process is asleep.
inline bool all_others_sleep() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    if (line.find(") S ") == std::string::npos) return false;
  }
  return true;
}

}  // namespace tenure::test
