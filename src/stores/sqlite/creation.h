// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include "stores/sqlite/location.h"
#include "stores/sqlite/session_lock.h"

namespace tenure::sqlite {

/// Puts a new database where none is, or where an empty file is. Any number of processes may do so
/// at once, and any of them may die at any point: there is one database in the end, and at no time
/// half of one. Having been forestalled is success.
[[nodiscard]] Result<void> create_database(const Location& location, Content found,
                                           const SessionLock& lock, const std::string& vfs,
                                           std::uint64_t random);

}  // namespace tenure::sqlite
