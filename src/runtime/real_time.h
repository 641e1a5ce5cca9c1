// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

/// The one exception to "time comes from the Clock that was handed in": how long a destructor waits
/// for code that may never return is counted in real time, or a test whose clock stands still could
/// never destroy its runtime. No decision about leadership may be taken on it.
namespace tenure::runtime {

using RealTime = std::chrono::steady_clock::time_point;

[[nodiscard]] inline RealTime real_time_after(std::chrono::milliseconds wait) noexcept {
  return std::chrono::steady_clock::now() + wait;
}

/// Whole milliseconds until `when`, rounded up; 0 once it has come.
[[nodiscard]] inline int real_ms_until(RealTime when) noexcept {
  const auto left = when - std::chrono::steady_clock::now();
  if (left <= left.zero()) return 0;
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

}  // namespace tenure::runtime
