// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/store.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace tenure {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

std::string refusal(std::string_view value) {
  const auto checked = check_name("the election name", value);
  if (checked.has_value()) return "accepted";
  EXPECT_EQ(checked.error().code, Errc::invalid_argument);
  return checked.error().message;
}

TEST(CheckName, AcceptsEverythingThatPeopleCallThings) {
  const std::vector<std::string> names{"a",
                                       "billing",
                                       "team/billing",
                                       "with space",
                                       ".",
                                       "..",
                                       "-rf",
                                       "%s%n",
                                       "'; drop--",
                                       "\xC3\xA9t\xC3\xA9",
                                       "\xE6\x97\xA5\xE6\x9C\xAC",
                                       "\xF0\x9F\x91\x91",
                                       "\xC2\xA0",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xF4\x8F\xBF\xBF",
                                       "~",
                                       std::string(255, 'x')};
  for (const std::string& name : names) {
    EXPECT_TRUE(check_name("the name", name).has_value()) << name;
  }
}

TEST(CheckName, RefusesAnEmptyName) {
  EXPECT_EQ(refusal(""),
            "the election name is empty; 1 to 255 bytes of valid UTF-8 without control characters "
            "are accepted");
}

TEST(CheckName, CountsBytesAndNotCharacters) {
  std::string name;
  for (int i = 0; i < 127; ++i) name += "\xC3\xA9";
  EXPECT_TRUE(check_name("the name", name + "x").has_value()) << "255 bytes";
  EXPECT_THAT(refusal(name + "\xC3\xA9"), HasSubstr("has 256 bytes"));
  EXPECT_THAT(refusal(std::string(256, 'x')), HasSubstr("has 256 bytes"));
}

TEST(CheckName, NeverPrintsMegabytes) {
  const std::string message = refusal(std::string(2'000'000, 'x'));
  EXPECT_THAT(message, HasSubstr("\"" + std::string(40, 'x') + "\"... has 2000000 bytes"));
  EXPECT_LT(message.size(), 250U);
  EXPECT_LT(refusal(std::string(2'000'000, '\0')).size(), 400U);
}

TEST(CheckName, RefusesEveryControlCharacterAndSaysWhichAndWhere) {
  EXPECT_THAT(refusal("ab\ncd"),
              HasSubstr(R"("ab\x0Acd" has the control character U+000A at byte 2)"));
  EXPECT_THAT(refusal("a\0b"s),
              HasSubstr(R"("a\x00b" has the control character U+0000 at byte 1)"));
  EXPECT_THAT(refusal("\x7F"), HasSubstr("U+007F at byte 0"));
  EXPECT_THAT(refusal("\xC3\xA9\xC2\x85"),
              HasSubstr("\\xC2\\x85\" has the control character U+0085 at byte 2"));
  for (char c = 0; c < 0x20; ++c) EXPECT_THAT(refusal(std::string(1, c)), HasSubstr("U+00"));
  for (int c = 0x80; c < 0xA0; ++c) {
    EXPECT_THAT(refusal("\xC2" + std::string(1, static_cast<char>(c))), HasSubstr("U+00"));
  }
}

TEST(CheckName, RefusesWhatIsNotUtf8AndSaysWhere) {
  const std::vector<std::string> broken{
      "\x80",              // a continuation without its start
      "\xC3",              // cut short
      "\xC3(",             // a start without its continuation
      "\xE6\x97",          // cut short
      "\xF0\x9F\x91",      // cut short
      "\xC0\xAF",          // an overlong slash
      "\xC1\xBF",          // overlong
      "\xE0\x9F\xBF",      // overlong
      "\xF0\x8F\xBF\xBF",  // overlong
      "\xED\xA0\x80",      // a surrogate
      "\xED\xBF\xBF",      // a surrogate
      "\xF4\x90\x80\x80",  // beyond U+10FFFF
      "\xF8\x88\x80\x80\x80",
      "\xFE",
      "\xFF",
  };
  for (const std::string& bytes : broken) {
    EXPECT_THAT(refusal("ab" + bytes), HasSubstr("is not valid UTF-8 at byte 2")) << bytes;
  }
  EXPECT_THAT(refusal("ab\xFF"), HasSubstr("\"ab\\xFF\""));
}

}  // namespace
}  // namespace tenure
