// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/fenced_resource.h>

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tenure::core {
namespace {

using Written = std::vector<std::uint64_t>;

TEST(FencedResource, SB08_AWriteWithAnOlderTokenIsRefusedAndNotRun) {
  FencedResource gate;
  Written written;
  const auto write = [&](std::uint64_t token) {
    return gate.write(token, [&] { written.push_back(token); });
  };
  EXPECT_TRUE(write(2));
  const auto older = write(1);
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, Errc::conflict);
  EXPECT_NE(older.error().message.find("token 1 is older than 2"), std::string::npos);
  EXPECT_TRUE(write(2)) << "the same term goes on writing";
  EXPECT_TRUE(write(5));
  EXPECT_FALSE(write(4));
  EXPECT_EQ(written, (Written{2, 2, 5}));
  EXPECT_EQ(gate.highest(), 5U);
}

TEST(FencedResource, SB08_ATokenOfNoTermIsRefusedAndNotRun) {
  FencedResource gate;
  const auto none = gate.write(0, [] { FAIL(); });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::invalid_argument);
  EXPECT_FALSE(gate.check(0));
  EXPECT_EQ(gate.highest(), 0U);
}

TEST(FencedResource, SB08_AResourceThatRestartsGoesOnFromTheTokenItHadStored) {
  FencedResource gate(9);
  EXPECT_EQ(gate.highest(), 9U);
  EXPECT_FALSE(gate.write(8, [] { FAIL(); }));
  int ran = 0;
  EXPECT_TRUE(gate.write(9, [&] { ++ran; }));
  EXPECT_EQ(ran, 1);
}

TEST(FencedResource, SB08_CheckRemembersWhatItAccepted) {
  FencedResource gate;
  EXPECT_TRUE(gate.check(7));
  EXPECT_EQ(gate.highest(), 7U);
  const auto older = gate.check(6);
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, Errc::conflict);
  EXPECT_FALSE(gate.write(6, [] { FAIL(); }));
  EXPECT_EQ(gate.highest(), 7U) << "what was refused is not remembered";
}

TEST(FencedResource, SB08_TheTokenOfAnActionThatThrewCountsAsSeen) {
  FencedResource gate;
  EXPECT_THROW((void)gate.write(3, [] { throw std::runtime_error("disk full"); }),
               std::runtime_error);
  EXPECT_EQ(gate.highest(), 3U) << "it may have written a part";
  EXPECT_FALSE(gate.check(2));
  EXPECT_TRUE(gate.check(3)) << "and the resource is not left locked";
}

// Without the lock around it an action would meet another one, or a later token's effect; a thread
// sanitizer sees the unguarded vector too.
TEST(FencedResource, SB08_WritesOfManyThreadsAreSerialised) {
  FencedResource gate;
  Written written;
  int inside = 0;
  bool overlapped = false;
  std::vector<std::thread> writers;
  for (std::uint64_t writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (std::uint64_t token = writer + 1; token <= 400; token += 4) {
        (void)gate.write(token, [&] {
          if (++inside != 1) overlapped = true;
          std::this_thread::yield();
          written.push_back(token);
          --inside;
        });
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_FALSE(overlapped);
  EXPECT_TRUE(std::is_sorted(written.begin(), written.end()));
  EXPECT_EQ(written.back(), 400U) << "the largest token is never refused";
  EXPECT_EQ(gate.highest(), 400U);
}

}  // namespace
}  // namespace tenure::core
