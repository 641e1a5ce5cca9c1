// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/slot_slab.h"

#include "core/rng.h"

#include <gtest/gtest.h>
#include <set>
#include <utility>
#include <vector>

namespace tenure::core {
namespace {

TEST(SlotSlab, NeverGivesASlotTwiceAndGivesBackWhatIsEmpty) {
  Rng rng(3);
  SlotSlab slab;
  std::vector<std::uint32_t> used;
  std::set<std::uint32_t> unique;
  for (int step = 0; step < 200'000; ++step) {
    const bool grow = (step / 20'000) % 2 == 0;
    if (used.empty() || rng.up_to(9) < (grow ? 8U : 2U)) {
      used.push_back(slab.allocate());
      ASSERT_TRUE(unique.insert(used.back()).second);
      ASSERT_FALSE(slab[used.back()].queued());
    } else {
      std::swap(used[rng.up_to(used.size() - 1)], used.back());
      slab.release(used.back());
      unique.erase(used.back());
      used.pop_back();
    }
    ASSERT_EQ(slab.in_use(), used.size());
  }
  for (const std::uint32_t slot : used) slab.release(slot);
  EXPECT_LE(slab.blocks_held(), 1U);
}

TEST(SlotSlab, HoldsNoMoreThanOneBlockBeyondWhatIsInUse) {
  SlotSlab slab;
  std::vector<std::uint32_t> used;
  for (int i = 0; i < 64 * 100; ++i) used.push_back(slab.allocate());
  EXPECT_EQ(slab.blocks_held(), 100U);
  while (!used.empty()) {
    slab.release(used.back());
    used.pop_back();
    ASSERT_LE(slab.blocks_held(), used.size() / 64 + 2);
  }
  for (int i = 0; i < 64 * 3; ++i) used.push_back(slab.allocate());
  EXPECT_EQ(slab.blocks_held(), 3U);
}

TEST(SlotSlab, ASlotStaysWhereItIsWhileOthersComeAndGo) {
  SlotSlab slab;
  const std::uint32_t kept = slab.allocate();
  const Slot* const where = &slab[kept];
  std::vector<std::uint32_t> others;
  for (int i = 0; i < 10'000; ++i) others.push_back(slab.allocate());
  for (const std::uint32_t slot : others) slab.release(slot);
  EXPECT_EQ(&slab[kept], where);
}

}  // namespace
}  // namespace tenure::core
