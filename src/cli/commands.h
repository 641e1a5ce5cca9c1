// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options.h"

// One function a command; each returns the exit code. They are called with all signals blocked
// (take_over_signals) and standard descriptors open.
namespace tenure::cli {

int run_command(const Settings& settings);  // run and lock
int watch_command(const Settings& settings);
int status_command(const Settings& settings);
int doctor_command(const Settings& settings);
int version_command(const Settings& settings);
int completion_command(const Settings& settings);

}  // namespace tenure::cli
