// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/key_text.h"

#include <array>
#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace tenure::core {
namespace {

TEST(KeyText, KeepsTextOfEveryLengthAroundTheEdge) {
  for (std::size_t length = 0; length < 200; ++length) {
    const std::string text(length, 'k');
    EXPECT_EQ(KeyText(text).view(), text);
  }
}

TEST(KeyText, MovesWithoutCopyingAndLeavesNothingBehind) {
  for (const std::string& text : {std::string("short"), std::string(100, 'x')}) {
    KeyText from(text);
    const char* const where = from.view().data();
    KeyText to(std::move(from));
    EXPECT_EQ(to.view(), text);
    if (text.size() > 12) {
      EXPECT_EQ(to.view().data(), where);
    }
    EXPECT_TRUE(from.view().empty());  // NOLINT(bugprone-use-after-move): that is what is tested
    KeyText third{std::string(50, 'y')};
    third = std::move(to);
    EXPECT_EQ(third.view(), text);
  }
}

TEST(KeyText, KeepsBytesThatAreNotText) {
  const std::string bytes("a\0b\xff", 4);
  EXPECT_EQ(KeyText(bytes).view(), bytes);
}

TEST(KeyText, TakesSixteenBytes) { EXPECT_EQ(sizeof(KeyText), 16U); }

TEST(KeyText, HashesSpreadSimilarKeysOverASmallTable) {
  std::array<int, 64> load{};
  for (int i = 0; i < 6400; ++i) ++load.at(hash_key("node-" + std::to_string(i)) % 64);
  for (const int count : load) EXPECT_NEAR(count, 100, 60);
}

}  // namespace
}  // namespace tenure::core
