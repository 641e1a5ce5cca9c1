// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/version.h>
#include <gtest/gtest.h>

namespace tenure {
namespace {

TEST(Version, IsTheOneOfTheProject) { EXPECT_EQ(version(), PROJECT_VERSION); }

}  // namespace
}  // namespace tenure
