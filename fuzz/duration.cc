// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"

#include "fuzz.h"

// A span of time on the command line: above zero, or refused; and it can always be shown.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto span = tenure::cli::parse_duration(tenure::fuzz::text_of(data, size));
  if (!span) return 0;
  tenure::fuzz::require(*span > tenure::Duration::zero(), "a span is above zero");
  tenure::fuzz::require(!tenure::cli::format_duration(*span).empty(), "a span can be shown");
  return 0;
}
