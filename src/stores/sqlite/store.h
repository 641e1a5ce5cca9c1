// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/sqlite_store.h>

#include <memory>

#include "stores/sqlite/environment.h"

namespace tenure::sqlite {

/// open_sqlite_store(), on a machine that tests make up.
[[nodiscard]] Result<std::unique_ptr<LeaseStore>> open_store_in(SqliteOptions options,
                                                                Environment environment,
                                                                Executor& executor);

}  // namespace tenure::sqlite
