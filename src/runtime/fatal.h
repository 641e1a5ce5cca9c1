// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tenure::runtime {

/// Marks every term of this process lost, then calls the fatal hook, then aborts. What a failed
/// TENURE_CHECK ends in, and Overrun::abort. Thread-safe.
[[noreturn]] void fatal(const char* what) noexcept;

}  // namespace tenure::runtime
