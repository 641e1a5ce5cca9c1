// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include "stores/sqlite/location.h"
#include "stores/sqlite/session_lock.h"

namespace tenure::sqlite {

/// Makes a new database where nothing is, or of an empty file, which keeps its owner and mode. Any
/// number of processes may do so at once, and any of them may die at any point: the first bytes of
/// a database come last, so that nobody uses half of one, and the next who comes completes it.
/// Having been forestalled is success; a failure leaves what was there before.
[[nodiscard]] Result<void> create_database(const Location& location, const SessionLock& lock,
                                           const std::string& vfs);

}  // namespace tenure::sqlite
