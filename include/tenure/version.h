// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tenure {

/// The version of the library that this program runs with, as MAJOR.MINOR.PATCH ("0.1.0"): what
/// was linked, which for a shared library need not be what was compiled against. The text lives
/// as long as the process. Thread-safe; never fails.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace tenure
