// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options.h"

// One function a command; each returns the exit code. They are called with standard descriptors
// open.
namespace tenure::cli {

int run_command(const Settings& settings);    // run and lock; with all signals blocked
int watch_command(const Settings& settings);  // exit_at_signals() has been called
int status_command(const Settings& settings);
int doctor_command(const Settings& settings);
int version_command(const Settings& settings);
int completion_command(const Settings& settings);

}  // namespace tenure::cli
