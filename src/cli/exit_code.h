// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <array>
#include <string_view>

namespace tenure::cli {

// How the command ends: the one table that the code, --help, the documents and the tests share.
inline constexpr int kOk = 0;
inline constexpr int kUsage = 64;
inline constexpr int kUnavailable = 69;
inline constexpr int kLeadershipLost = 70;
inline constexpr int kNotElected = 75;
inline constexpr int kCannotRun = 126;
inline constexpr int kNotFound = 127;
inline constexpr int kSignalBase = 128;

struct ExitMeaning {
  std::string_view code;
  std::string_view meaning;
};

inline constexpr std::array kExitMeanings{
    ExitMeaning{"0", "done (run, lock: what CMD ended with, when CMD ended by itself)"},
    ExitMeaning{"64", "usage: a bad option or value; nothing was created"},
    ExitMeaning{"69", "store unavailable or unusable"},
    ExitMeaning{"70", "leadership lost while CMD ran (lock, run --once)"},
    ExitMeaning{"75", "not elected within --timeout"},
    ExitMeaning{"126", "CMD cannot be run"},
    ExitMeaning{"127", "CMD not found"},
    ExitMeaning{"128+N", "ended by signal N (tenure, or with --once CMD)"},
};

// The code for an error that the library reports.
[[nodiscard]] constexpr int exit_code_of(const Error& error) noexcept {
  return error.code == Errc::invalid_argument ? kUsage : kUnavailable;
}

// What a shell would make of a wait status.
[[nodiscard]] constexpr int exit_code_of_wait_status(int status) noexcept {
  const int signal = status & 0x7F;
  return signal == 0 ? (status >> 8) & 0xFF : kSignalBase + signal;
}

}  // namespace tenure::cli
