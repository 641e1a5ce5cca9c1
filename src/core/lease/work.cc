// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/work.h>

#include <utility>

namespace tenure {

Work limit_retries(std::uint32_t retries, Work work) {
  if (!work) return {};
  return [retries, runs = std::uint32_t{0}, work = std::move(work)]() mutable -> WorkResult {
    // The retry after a last run that threw: the exception could not say that it was the last.
    if (runs > retries) return {};
    const bool last = runs++ == retries;
    WorkResult result = work();
    if (last) result.retry = false;
    return result;
  };
}

}  // namespace tenure
