// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/key_index.h"

#include "core/rng.h"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace tenure::core {
namespace {

std::uint32_t find(const KeyIndex& index, std::uint32_t hash, std::uint32_t slot) {
  return index.find(hash, [slot](std::uint32_t found) { return found == slot; });
}

TEST(KeyIndex, EmptyFindsNothing) {
  const KeyIndex index;
  EXPECT_EQ(index.find(3, [](std::uint32_t) { return true; }), KeyIndex::kNone);
}

// Few hashes, so that runs are long and gaps are closed across the end of the table.
TEST(KeyIndex, AgreesWithAMapOverAMillionRandomSteps) {
  Rng rng(11);
  KeyIndex index;
  std::map<std::uint32_t, std::uint32_t> twin;  // slot -> hash
  for (int step = 0; step < 1'000'000; ++step) {
    const auto slot = static_cast<std::uint32_t>(rng.up_to(199));
    const auto found = twin.find(slot);
    if (found == twin.end()) {
      const auto hash = static_cast<std::uint32_t>(rng.up_to(20)) * 13U - 20U;
      ASSERT_EQ(find(index, hash, slot), KeyIndex::kNone);
      index.insert(hash, slot);
      twin.emplace(slot, hash);
    } else {
      ASSERT_EQ(find(index, found->second, slot), slot);
      if (rng.up_to(1) == 0) {
        index.erase(found->second, slot);
        twin.erase(found);
      }
    }
    ASSERT_EQ(index.size(), twin.size());
  }
  for (const auto& [slot, hash] : twin) ASSERT_EQ(find(index, hash, slot), slot);
}

TEST(KeyIndex, TakesAtMostTwentyBytesAKeyAndShrinksAsItEmpties) {
  KeyIndex index;
  Rng rng(5);
  std::vector<std::uint32_t> hashes;
  for (std::uint32_t slot = 0; slot < 100'000; ++slot) {
    hashes.push_back(static_cast<std::uint32_t>(rng.next()));
    index.insert(hashes.back(), slot);
    if (slot > 1000) {
      ASSERT_LE(index.capacity() * 8, index.size() * 20 + 20);
    }
  }
  for (std::uint32_t slot = 0; slot < 100'000; ++slot) {
    ASSERT_EQ(find(index, hashes[slot], slot), slot);
    index.erase(hashes[slot], slot);
  }
  EXPECT_LE(index.capacity(), 64U);
}

}  // namespace
}  // namespace tenure::core
