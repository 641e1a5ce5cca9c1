// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

TEST(TempDir, IsGoneWithAllThatIsInIt) {
  fs::path path;
  {
    const TempDir dir;
    path = dir.path();
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_EQ(read_file(dir.write("file", "content")), "content");
    fs::create_directories(path / "a" / "b");
    fs::permissions(path / "a", fs::perms::none);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TempDir, TwoAreNeverTheSame) {
  const TempDir one;
  const TempDir two;
  EXPECT_NE(one.path(), two.path());
}

TEST(TempDir, ReadingWhatIsNotThereGivesNothing) {
  const TempDir dir;
  EXPECT_EQ(read_file(dir / "nothing"), "");
}

}  // namespace
}  // namespace tenure::test
