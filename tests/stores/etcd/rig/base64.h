// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tenure::test {

/// With padding, as the JSON gateway of etcd has bytes.
[[nodiscard]] std::string to_base64(std::string_view bytes);
/// Stops at the first character that is none of base64's.
[[nodiscard]] std::string from_base64(std::string_view text);

}  // namespace tenure::test
