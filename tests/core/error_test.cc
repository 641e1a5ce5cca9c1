// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/error.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <type_traits>

namespace tenure {
namespace {

constexpr Errc kAllCodes[] = {
    Errc::unavailable,      Errc::outcome_unknown, Errc::conflict,
    Errc::not_found,        Errc::unauthenticated, Errc::permission_denied,
    Errc::invalid_argument, Errc::unsupported,     Errc::corrupt,
    Errc::closed,           Errc::timed_out,
};

TEST(Error, EveryCodeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Errc code : kAllCodes) {
    const std::string_view name = to_string(code);
    EXPECT_NE(name, "unknown");
    EXPECT_TRUE(names.insert(name).second) << name << " is used twice";
  }
}

TEST(Error, NamesAreTheOnesInTheDocumentation) {
  EXPECT_EQ(to_string(Errc::unavailable), "unavailable");
  EXPECT_EQ(to_string(Errc::outcome_unknown), "outcome_unknown");
  EXPECT_EQ(to_string(Errc::conflict), "conflict");
  EXPECT_EQ(to_string(Errc::not_found), "not_found");
  EXPECT_EQ(to_string(Errc::unauthenticated), "unauthenticated");
  EXPECT_EQ(to_string(Errc::permission_denied), "permission_denied");
  EXPECT_EQ(to_string(Errc::invalid_argument), "invalid_argument");
  EXPECT_EQ(to_string(Errc::unsupported), "unsupported");
  EXPECT_EQ(to_string(Errc::corrupt), "corrupt");
  EXPECT_EQ(to_string(Errc::closed), "closed");
  EXPECT_EQ(to_string(Errc::timed_out), "timed_out");
}

TEST(Error, AValueThatIsNoCodeIsNamedUnknownInsteadOfCrashing) {
  EXPECT_EQ(to_string(static_cast<Errc>(1000)), "unknown");
}

TEST(Error, FailMakesTheErrorSideOfAResult) {
  const Result<int> result = fail(Errc::conflict, "somebody was first");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error(), (Error{Errc::conflict, "somebody was first"}));
}

TEST(Error, ErrorsDifferByCodeAndByMessage) {
  const Error error{Errc::closed, "the store is closed"};
  EXPECT_NE(error, (Error{Errc::timed_out, "the store is closed"}));
  EXPECT_NE(error, (Error{Errc::closed, "the runtime is closed"}));
}

}  // namespace
}  // namespace tenure
