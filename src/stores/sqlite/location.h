// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/sqlite_store.h>

#include <string>

#include "stores/sqlite/environment.h"

namespace tenure::sqlite {

/// The place of a database, checked as far as a path and a folder can be. Canonical, so that every
/// way to write it leads to the same -wal and the same lock file.
struct Location {
  std::string path;
  std::string folder;

  [[nodiscard]] std::string lock_path() const { return path + "-lock"; }
};

/// Resolves and checks the path of `options`; creates nothing but, if asked to, the default folder.
[[nodiscard]] Result<Location> resolve_location(const SqliteOptions& options,
                                                const Environment& environment);

/// What stands at a location.
enum class Content {
  missing,
  empty,       ///< A file of 0 bytes: nobody's, so it may become a database.
  unfinished,  ///< A database that was being made when its maker was killed.
  tenure,      ///< A database of this schema, by its first bytes.
};

/// Looks without a lock and without changing anything, side files included. invalid_argument: not a
/// plain file, or one with a second name; corrupt: foreign, damaged or newer; else what reading
/// says.
[[nodiscard]] Result<Content> look_at(const Location& location, const std::string& vfs);

/// permission_denied, with the reason, if a database cannot be written there.
[[nodiscard]] Result<void> check_writable(const Location& location);

}  // namespace tenure::sqlite
