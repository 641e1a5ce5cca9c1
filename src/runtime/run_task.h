// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>

namespace tenure::runtime {

/// Runs a task of the library or of a store. An exception that leaves it is a fault that leaves its
/// machine in an unknown state, so it is fatal. The task is destroyed before this returns.
void run_task(Executor::Task task) noexcept;

}  // namespace tenure::runtime
