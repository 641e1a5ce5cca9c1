// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/url.h"

#include "fuzz.h"

using tenure::fuzz::require;

// A store URL: refused with a message that can be shown, or taken apart without loss.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto url = tenure::core::parse_url(tenure::fuzz::text_of(data, size));
  if (!url) {
    require(url.error().code == tenure::Errc::invalid_argument, "refused as invalid_argument");
    require(!url.error().message.empty() && url.error().message.size() < 1000, "a short message");
    for (const char c : url.error().message) {
      require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "nothing a terminal acts on");
    }
    return 0;
  }
  require(!url->scheme.empty(), "a scheme");
  require(url->path.find('\0') == std::string::npos, "no NUL in a path");
  for (const auto& [name, value] : url->options) {
    require(!name.empty() && url->option(name) == value, "each option is there once");
  }
  (void)tenure::core::check_options(*url, {"a", "ttl"});
  return 0;
}
