// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writers/text.h"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace tenure::sim {

std::string text_of(const char* format, ...) {
  std::array<char, 400> text{};
  va_list args;
  va_start(args, format);
  std::vsnprintf(text.data(), text.size(), format, args);
  va_end(args);
  return text.data();
}

}  // namespace tenure::sim
