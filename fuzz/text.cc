// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/console.h"
#include "core/utf8.h"

#include "fuzz.h"

#include <tenure/store.h>

using tenure::fuzz::require;

namespace {

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto one = tenure::core::decode_utf8(text, at);
    if (one.bytes == 0) return false;
    require(one.bytes <= 4 && at + one.bytes <= text.size(), "a character lies inside its text");
    require(one.value <= 0x10FFFF, "a character is one of Unicode");
    at += one.bytes;
  }
  return true;
}

}  // namespace

// Names, and what is shown of foreign ones: whatever the bytes are, a terminal takes no harm.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tenure::fuzz::text_of(data, size);
  const bool is_name = tenure::check_name("the name", text).has_value();
  require(!is_name || (is_utf8(text) && size >= 1 && size <= 255), "a name is short UTF-8");
  const std::string shown = tenure::cli::shown(text);
  require(is_utf8(shown), "what is shown is UTF-8");
  for (const char c : shown) {
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "nothing a terminal acts on");
  }
  return 0;
}
