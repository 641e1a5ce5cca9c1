// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tenure::core {

/// What a failed check calls before the process is aborted. The runtime installs one that marks
/// every term of the process lost and calls the user's fatal hook; the core alone just aborts.
using CheckHandler = void (*)(const char* what) noexcept;

/// Replaces the handler and returns the former one; null: none. Thread-safe.
CheckHandler set_check_handler(CheckHandler handler) noexcept;

/// Calls the handler, then aborts. `what` is a literal.
[[noreturn]] void check_failed(const char* what) noexcept;

}  // namespace tenure::core

#define TENURE_CHECK_TEXT(value) #value
#define TENURE_CHECK_LINE(value) TENURE_CHECK_TEXT(value)

/// Holds in every build, Release too. For what can only be false by a fault of this library, never
/// for what a caller, a store or the system may do.
#define TENURE_CHECK(condition)                     \
  (static_cast<bool>(condition)                     \
       ? static_cast<void>(0)                       \
       : ::tenure::core::check_failed(__FILE_NAME__ \
                                      ":" TENURE_CHECK_LINE(__LINE__) ": " #condition))
