// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/url.h"

#include <gmock/gmock.h>
#include <string>
#include <utility>
#include <vector>

namespace tenure::core {
namespace {

using testing::HasSubstr;

Url url(std::string_view text) {
  auto parsed = parse_url(text);
  EXPECT_TRUE(parsed) << text << ": " << parsed.error().message;
  return parsed.value_or(Url{});
}

std::string refusal(std::string_view text) {
  const auto parsed = parse_url(text);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code, Errc::invalid_argument);
  return parsed.error().message;
}

TEST(Url, SchemeAndPathAreTakenApartAtTheFirstColon) {
  EXPECT_EQ(url("sqlite:/var/lib/a:b.db"), (Url{"sqlite", std::nullopt, "/var/lib/a:b.db", {}}));
  EXPECT_EQ(url("memory:"), (Url{"memory", std::nullopt, "", {}}));
  EXPECT_EQ(url("sqlite:relative.db"), (Url{"sqlite", std::nullopt, "relative.db", {}}));
}

TEST(Url, SchemeIsReadInEitherCase) { EXPECT_EQ(url("SQLite:x").scheme, "sqlite"); }

TEST(Url, AuthorityReachesFromTwoSlashesToTheNextOne) {
  EXPECT_EQ(url("etcd://a:2379,b:2379/prefix/x"), (Url{"etcd", "a:2379,b:2379", "/prefix/x", {}}));
  EXPECT_EQ(url("etcd-v2://a:1"), (Url{"etcd-v2", "a:1", "", {}}));
  EXPECT_EQ(url("sqlite:///abs"), (Url{"sqlite", "", "/abs", {}}));
  EXPECT_EQ(url("etcd://a?x=1"), (Url{"etcd", "a", "", {{"x", "1"}}}));
}

TEST(Url, OptionsAreKeptInOrderAndFoundByName) {
  const Url parsed = url("x:p?b=2&a=1&c=");
  const std::vector<std::pair<std::string, std::string>> expected{
      {"b", "2"}, {"a", "1"}, {"c", ""}};
  EXPECT_EQ(parsed.options, expected);
  EXPECT_EQ(parsed.option("a"), "1");
  EXPECT_EQ(parsed.option("c"), "");
  EXPECT_EQ(parsed.option("d"), std::nullopt);
}

TEST(Url, EscapesAreDecodedInPathNamesAndValuesAndNothingElseIs) {
  EXPECT_EQ(url("sqlite:/a%3Fb%25c%2fd").path, "/a?b%c/d");
  EXPECT_EQ(url("x:p?a%3Db=1%262").option("a=b"), "1&2");
  EXPECT_EQ(url("x:a+b#c?d=e+f#g").path, "a+b#c");
  EXPECT_EQ(url("x:a+b#c?d=e+f#g").option("d"), "e+f#g");
  EXPECT_EQ(url("x:p?a=b=c").option("a"), "b=c");
  EXPECT_EQ(url("x://h%41/p").authority, "h%41");
}

TEST(Url, PathIsTakenAsTheBytesItIs) {
  EXPECT_EQ(url("sqlite:/\xc3\xa4 \xff").path, "/\xc3\xa4 \xff");
  EXPECT_EQ(url("sqlite:/%C3%A4").path, "/\xc3\xa4");
}

TEST(Url, TextWithoutASchemeIsRefusedAndTheMessageSaysHowOneLooks) {
  for (const char* text : {"", "/var/lib/x.db", ":x", "1a:b", "a b:c", "./a:b", "-a:b"}) {
    EXPECT_THAT(refusal(text), HasSubstr("sqlite:PATH")) << text;
  }
}

TEST(Url, BrokenEscapeIsRefusedAndNamed) {
  EXPECT_THAT(refusal("sqlite:/100%"), HasSubstr("\"%\""));
  EXPECT_THAT(refusal("sqlite:/100%.db"), HasSubstr("\"%.d\""));
  EXPECT_THAT(refusal("sqlite:/%4"), HasSubstr("%25"));
  EXPECT_THAT(refusal("x:p?a=%g1"), HasSubstr("\"%g1\""));
  EXPECT_THAT(refusal("x:p?%=1"), HasSubstr("%25"));
}

TEST(Url, NulIsRefusedHoweverItIsWritten) {
  EXPECT_THAT(refusal("sqlite:/a%00b"), HasSubstr("NUL"));
  EXPECT_THAT(refusal(std::string_view("sqlite:/a\0b", 11)), HasSubstr("NUL"));
  EXPECT_THAT(refusal(std::string_view("etcd://a\0b/c", 12)), HasSubstr("NUL"));
}

TEST(Url, OptionThatIsNotNameAndValueIsRefused) {
  for (const char* text : {"x:p?", "x:p?a", "x:p?=1", "x:p?a=1&", "x:p?&a=1"}) {
    EXPECT_THAT(refusal(text), HasSubstr("NAME=VALUE")) << text;
  }
  EXPECT_THAT(refusal("x:p?a=1&b=2&a=3"), HasSubstr("\"a\" is given twice"));
}

TEST(Url, UnknownOptionIsRefusedByNameAndTheKnownOnesAreListed) {
  EXPECT_TRUE(check_options(url("x:p"), {}));
  EXPECT_TRUE(check_options(url("x:p?a=1"), {"b", "a"}));
  const auto unknown = check_options(url("x:p?a=1&color=red"), {"a", "b"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::invalid_argument);
  EXPECT_THAT(unknown.error().message, HasSubstr("\"color\"; accepted: a, b"));
  EXPECT_THAT(check_options(url("x:p?a=1"), {}).error().message, HasSubstr("takes no options"));
}

TEST(Url, MessageQuotesNeitherControlCharactersNorMegabytes) {
  EXPECT_EQ(refusal("a\x1b[31m\nb").find_first_of("\x1b\n"), std::string::npos);
  EXPECT_LT(refusal(std::string(2'000'000, 'a')).size(), 300U);
  EXPECT_LT(refusal(std::string(2'000'000, 'a') + ":x").size(), 300U);
  EXPECT_LT(refusal("x:p?" + std::string(2'000'000, 'a')).size(), 300U);
}

}  // namespace
}  // namespace tenure::core
