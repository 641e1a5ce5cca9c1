// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tenure::runtime {

/// Marks every term of this process lost, then calls the fatal hook, then aborts. What a failed
/// TENURE_CHECK ends in, and Overrun::abort. Thread-safe.
[[noreturn]] void fatal(const char* what) noexcept;

/// Calls what can fail only for lack of memory, where that would leave a lock held or a thing half
/// done: then it is fatal.
template <class Call>
auto or_fatal(Call call) {
  try {
    return call();
  } catch (...) {
    fatal("no memory left");
  }
}

}  // namespace tenure::runtime
