// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/store.h>

#include "core/utf8.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tenure {
namespace {

constexpr std::size_t kMostBytes = 255;
// A message shows this much of a bad value, enough to recognise it.
constexpr std::size_t kShownBytes = 40;
constexpr std::string_view kRule =
    "1 to 255 bytes of valid UTF-8 without control characters are accepted";

constexpr std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

bool is_control(std::uint32_t code_point) {
  return code_point < 0x20U || (code_point >= 0x7FU && code_point <= 0x9FU);
}

std::string hex(std::uint32_t value, int digits) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    text += kDigits[(value >> static_cast<unsigned>(shift)) & 0xFU];
  }
  return text;
}

// Printable on any terminal: whole characters as they are, everything else as \xNN.
std::string quoted(std::string_view value) {
  std::string text = "\"";
  std::size_t at = 0;
  while (at < value.size() && at < kShownBytes) {
    const core::CodePoint next = core::decode_utf8(value, at);
    if (next.bytes != 0 && !is_control(next.value)) {
      text += value.substr(at, next.bytes);
      at += next.bytes;
      continue;
    }
    for (const std::size_t end = at + (next.bytes == 0 ? 1 : next.bytes); at < end; ++at) {
      text += "\\x" + hex(byte_at(value, at), 2);
    }
  }
  text += '"';
  if (at < value.size()) text += "...";
  return text;
}

Result<void> refuse(std::string_view what, std::string_view value, const std::string& fault) {
  std::string message(what);
  if (!value.empty()) message += " " + quoted(value);
  message += " " + fault + "; ";
  message += kRule;
  return fail(Errc::invalid_argument, std::move(message));
}

}  // namespace

Result<void> check_name(std::string_view what, std::string_view value) {
  if (value.empty()) return refuse(what, value, "is empty");
  if (value.size() > kMostBytes) {
    return refuse(what, value, "has " + std::to_string(value.size()) + " bytes");
  }
  for (std::size_t at = 0; at < value.size();) {
    const core::CodePoint next = core::decode_utf8(value, at);
    if (next.bytes == 0) {
      return refuse(what, value, "is not valid UTF-8 at byte " + std::to_string(at));
    }
    if (is_control(next.value)) {
      return refuse(
          what, value,
          "has the control character U+" + hex(next.value, 4) + " at byte " + std::to_string(at));
    }
    at += next.bytes;
  }
  return {};
}

}  // namespace tenure
