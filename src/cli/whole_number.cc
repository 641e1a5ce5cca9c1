// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/whole_number.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <system_error>
#include <utility>

namespace tenure::cli {

void add_whole_number(CLI::App& app, const std::string& name, NumberRange range,
                      const std::string& help, std::function<void(std::uint64_t)> use) {
  const auto read = [name, range, use = std::move(use)](const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || rest != end || value < range.least || value > range.most) {
      throw CLI::ValidationError(name, "is " + text + ", must be a whole number from " +
                                           std::to_string(range.least) + " to " +
                                           std::to_string(range.most));
    }
    use(value);
  };
  app.add_option_function<std::string>(name, read, help)->type_name("N");
}

}  // namespace tenure::cli
