// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/harness.h"

#include <csignal>
#include <gtest/gtest.h>
#include <string>

namespace tenure::test {
namespace {

TEST(ServiceExample, OneOfTwoWorksAndTheOtherGoesOnWhenItIsTerminated) {
  const Bench bench;
  Process first(bench.dir, {SERVICE, bench.store()});
  ASSERT_TRUE(eventually([&] { return first.out() == "leading with token 1\n"; })) << first.err();
  Process second(bench.dir, {SERVICE, bench.store()});
  first.send(SIGTERM);
  EXPECT_EQ(first.wait(), 0) << first.err();
  EXPECT_EQ(first.out(), "leading with token 1\nstanding back\n");
  ASSERT_TRUE(eventually([&] { return second.out().starts_with("leading with token "); }));
  EXPECT_NE(second.out(), "leading with token 1\n");
  second.send(SIGINT);
  EXPECT_EQ(second.wait(), 0) << second.err();
}

TEST(ServiceExample, SaysWhatIsWrongWithItsStore) {
  const Bench bench;
  Process service(bench.dir, {SERVICE, "sqlite:/no/such/folder/t.db"});
  EXPECT_EQ(service.wait(), 1);
  EXPECT_NE(service.err().find("/no/such/folder"), std::string::npos) << service.err();
}

}  // namespace
}  // namespace tenure::test
