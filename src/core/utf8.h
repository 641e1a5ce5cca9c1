// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tenure::core {

/// One character of a text, and how many bytes it takes there.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: no valid UTF-8 begins here.
};

/// The character at `at`, which must be inside `text`. What the standard calls ill-formed is none:
/// overlong forms, surrogates, beyond U+10FFFF.
[[nodiscard]] CodePoint decode_utf8(std::string_view text, std::size_t at);

}  // namespace tenure::core
