// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <string>
#include <string_view>

struct sqlite3;

namespace tenure::sqlite {

/// Where in a transaction an error came up: it decides whether something may have been changed.
enum class Phase {
  opening,  ///< While the file is opened and looked at.
  working,  ///< Before COMMIT: nothing was changed.
  commit,   ///< COMMIT itself.
};

/// What the caller does next about SQLite's (extended) result code.
[[nodiscard]] Errc classify(int result, Phase phase) noexcept;

/// The Error for a result: class, what was being done to which file, SQLite's reason and the
/// system's. `db` may be null.
[[nodiscard]] Error make_error(sqlite3* db, int result, Phase phase, std::string_view doing,
                               const std::string& path);

/// The Error of a failed system call.
[[nodiscard]] Error make_system_error(int number, std::string_view doing, const std::string& path);

}  // namespace tenure::sqlite
