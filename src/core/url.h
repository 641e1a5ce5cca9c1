// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure::core {

/// A store's URL taken apart: SCHEME:[//AUTHORITY]PATH[?NAME=VALUE[&NAME=VALUE]...].
struct Url {
  std::string scheme;                    ///< In lower case.
  std::optional<std::string> authority;  ///< As written; absent without "//".
  std::string path;                      ///< Percent-decoded. All up to the first '?'.
  std::vector<std::pair<std::string, std::string>> options;  ///< Percent-decoded, in order.

  bool operator==(const Url&) const = default;

  /// The value of an option; nothing if it is not given.
  [[nodiscard]] std::optional<std::string_view> option(std::string_view name) const;
};

/// Takes `text` apart. In path and options, '%' followed by two hexadecimal digits stands for that
/// byte (never NUL), so '%' is written %25 and '?' in a path %3F; '+' and '#' are themselves. Pure.
/// invalid_argument: says what is wrong and where.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

/// invalid_argument, naming the option and what is accepted, if `url` has one that is not `known`.
[[nodiscard]] Result<void> check_options(const Url& url,
                                         std::initializer_list<std::string_view> known);

}  // namespace tenure::core
