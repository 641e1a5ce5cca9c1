// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/url.h"

#include <algorithm>

namespace tenure::core {
namespace {

constexpr std::size_t kMostShown = 60;
constexpr std::size_t kLongestScheme = 32;

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::optional<unsigned> hex_value(char c) noexcept {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  const char lower = to_lower(c);
  if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a') + 10U;
  return std::nullopt;
}

// What a message may quote: short, and nothing that a terminal would act on.
std::string quoted(std::string_view text) {
  std::string shown = "\"";
  for (const char c : text.substr(0, kMostShown)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  if (text.size() > kMostShown) shown += "...";
  return shown + '"';
}

tl::unexpected<Error> refuse(std::string message) {
  return fail(Errc::invalid_argument, std::move(message));
}

Result<std::string> decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const auto high = i + 1 < text.size() ? hex_value(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? hex_value(text[i + 2]) : std::nullopt;
      if (!high || !low) {
        return refuse(quoted(text.substr(i, 3)) +
                      " in a store URL is not an escape; write a percent sign as %25");
      }
      c = static_cast<char>(*high * 16U + *low);
      i += 2;
    }
    if (c == '\0') return refuse("a store URL cannot hold a NUL byte");
    decoded += c;
  }
  return decoded;
}

bool is_scheme(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kLongestScheme && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '-' || c == '+' || c == '.';
         });
}

Result<void> add_option(Url& url, std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return refuse("the option " + quoted(text) + " in a store URL is not NAME=VALUE");
  }
  auto name = decode(text.substr(0, equals));
  if (!name) return tl::unexpected(std::move(name.error()));
  auto value = decode(text.substr(equals + 1));
  if (!value) return tl::unexpected(std::move(value.error()));
  if (url.option(*name)) {
    return refuse("the option " + quoted(*name) + " is given twice in a store URL");
  }
  url.options.emplace_back(std::move(*name), std::move(*value));
  return {};
}

Result<void> add_options(Url& url, std::string_view query) {
  while (true) {
    const auto end = query.find('&');
    if (auto added = add_option(url, query.substr(0, end)); !added) return added;
    if (end == std::string_view::npos) return {};
    query.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::string_view> Url::option(std::string_view name) const {
  for (const auto& [known, value] : options) {
    if (known == name) return value;
  }
  return std::nullopt;
}

Result<Url> parse_url(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon))) {
    return refuse(quoted(text) +
                  " is not a store URL; it begins with a scheme, as sqlite:PATH does");
  }
  Url url;
  url.scheme = text.substr(0, colon);
  std::transform(url.scheme.begin(), url.scheme.end(), url.scheme.begin(), to_lower);

  std::string_view rest = text.substr(colon + 1);
  const auto mark = rest.find('?');
  const std::string_view query =
      mark == std::string_view::npos ? std::string_view() : rest.substr(mark + 1);
  rest = rest.substr(0, mark);
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const auto slash = std::min(rest.find('/'), rest.size());
    if (rest.substr(0, slash).find('\0') != std::string_view::npos) {
      return refuse("a store URL cannot hold a NUL byte");
    }
    url.authority = rest.substr(0, slash);
    rest.remove_prefix(slash);
  }
  auto path = decode(rest);
  if (!path) return tl::unexpected(std::move(path.error()));
  url.path = std::move(*path);
  if (mark != std::string_view::npos) {
    if (auto added = add_options(url, query); !added) return tl::unexpected(added.error());
  }
  return url;
}

Result<void> check_options(const Url& url, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : url.options) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string accepted;
    for (const std::string_view one : known) {
      accepted += accepted.empty() ? "; accepted: " : ", ";
      accepted += one;
    }
    if (accepted.empty()) accepted = "; it takes no options";
    return refuse("a store of the scheme " + url.scheme + ": has no option " + quoted(name) +
                  accepted);
  }
  return {};
}

}  // namespace tenure::core
