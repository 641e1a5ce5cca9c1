// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>

namespace tenure::runtime {

using ExceptionReport = void (*)(const char* what) noexcept;

/// Runs code of a user. An exception that leaves it is reported (null: on standard error), and that
/// is all that happens.
void run_callback(const Executor::Task& task, ExceptionReport report) noexcept;

}  // namespace tenure::runtime
