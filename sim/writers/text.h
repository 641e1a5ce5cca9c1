// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tenure::sim {

/// As std::printf, into a string; cut at 400 characters.
[[gnu::format(printf, 1, 2)]] std::string text_of(const char* format, ...);

}  // namespace tenure::sim
