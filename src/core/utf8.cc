// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/utf8.h"

#include "core/check.h"

#include <array>

namespace tenure::core {

CodePoint decode_utf8(std::string_view text, std::size_t at) {
  TENURE_CHECK(at < text.size());
  const auto byte_at = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte_at(at);
  if (first < 0x80U) return {first, 1};
  std::size_t bytes = 0;
  if ((first & 0xE0U) == 0xC0U) bytes = 2;
  if ((first & 0xF0U) == 0xE0U) bytes = 3;
  if ((first & 0xF8U) == 0xF0U) bytes = 4;
  if (bytes == 0 || text.size() - at < bytes) return {};
  std::uint32_t value = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const std::uint8_t next = byte_at(at + i);
    if ((next & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (next & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800U && value <= 0xDFFFU;
  if (value < kSmallest.at(bytes) || value > 0x10FFFFU || surrogate) return {};
  return {value, bytes};
}

}  // namespace tenure::core
