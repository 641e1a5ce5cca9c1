// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace tenure::cli {

enum class Verdict { fine, warning, bad };

// One thing that was looked at: what was found, and what to do about it.
struct Finding {
  std::string check;
  Verdict verdict = Verdict::fine;
  std::string found;
  std::string advice;  // empty when fine
};

// What can be judged without opening the store. Nothing is created.
[[nodiscard]] std::vector<Finding> check_machine();
[[nodiscard]] Finding check_timing(const Settings& settings);

// The folder that will hold, or holds, the database file `path`: file system, room, rights, time of
// a sync. The default folder may be missing: a candidate creates it.
[[nodiscard]] std::vector<Finding> check_folder_of(const std::string& path, bool is_default,
                                                   const Timing& timing);

}  // namespace tenure::cli
