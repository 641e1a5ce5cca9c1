// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/utf8.h"

#include <gtest/gtest.h>
#include <string_view>

namespace tenure::core {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, DecodesTheFirstAndTheLastCharacterOfEachLength) {
  struct Case {
    std::string_view text;
    std::uint32_t value;
  };
  for (const Case& each :
       {Case{"\0"sv, 0}, Case{"\x7F", 0x7F}, Case{"\xC2\x80", 0x80}, Case{"\xDF\xBF", 0x7FF},
        Case{"\xE0\xA0\x80", 0x800}, Case{"\xED\x9F\xBF", 0xD7FF}, Case{"\xEE\x80\x80", 0xE000},
        Case{"\xEF\xBF\xBF", 0xFFFF}, Case{"\xF0\x90\x80\x80", 0x10000},
        Case{"\xF4\x8F\xBF\xBF", 0x10FFFF}}) {
    const CodePoint decoded = decode_utf8(each.text, 0);
    EXPECT_EQ(decoded.value, each.value);
    EXPECT_EQ(decoded.bytes, each.text.size()) << each.value;
  }
}

TEST(Utf8, DecodesInTheMiddleOfAText) {
  const std::string_view text = "a\xC3\xA9z";
  EXPECT_EQ(decode_utf8(text, 1).value, 0xE9U);
  EXPECT_EQ(decode_utf8(text, 1).bytes, 2U);
  EXPECT_EQ(decode_utf8(text, 2).bytes, 0U) << "the second half of a character is none";
  EXPECT_EQ(decode_utf8(text, 3).value, 'z');
}

TEST(Utf8, WhatIsIllFormedIsNoCharacter) {
  for (const std::string_view text :
       {"\x80"sv, "\xBF"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xC3"sv, "\xC3z"sv, "\xE0\x9F\xBF"sv,
        "\xE2\x82"sv, "\xED\xA0\x80"sv, "\xED\xBF\xBF"sv, "\xF0\x8F\xBF\xBF"sv, "\xF0\x9F\x98"sv,
        "\xF4\x90\x80\x80"sv, "\xF8\x88\x80\x80\x80"sv, "\xFF"sv}) {
    EXPECT_EQ(decode_utf8(text, 0).bytes, 0U) << static_cast<int>(text[0]) << " " << text.size();
  }
}

}  // namespace
}  // namespace tenure::core
