// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>

namespace tenure::runtime {

/// Runs code of a user. An exception that leaves it is reported on standard error, and that is all
/// that happens. The task is destroyed before this returns.
void run_callback(Executor::Task task) noexcept;

}  // namespace tenure::runtime
