// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <string>

namespace tenure::core {

/// A span as people write it: "15s", "1.5s", "250ms", "2m", "-1s", "for ever". At most three
/// digits after the point.
[[nodiscard]] std::string describe(Duration span);

/// A number with at most six digits after the point: "0.01"; "not a number"; "above 1000000".
[[nodiscard]] std::string describe(double number);

}  // namespace tenure::core
