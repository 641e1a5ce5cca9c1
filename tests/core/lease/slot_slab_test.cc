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

constexpr std::size_t kSlots = SlotSlab::kBlockSlots;
constexpr std::size_t kSpares = SlotSlab::kSpareBlocks;

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
  EXPECT_LE(slab.blocks_held(), kSpares);
}

TEST(SlotSlab, HoldsNoMoreThanAFewBlocksBeyondWhatIsInUse) {
  SlotSlab slab;
  std::vector<std::uint32_t> used;
  for (std::size_t i = 0; i < kSlots * 100; ++i) used.push_back(slab.allocate());
  EXPECT_EQ(slab.blocks_held(), 100U);
  while (!used.empty()) {
    slab.release(used.back());
    used.pop_back();
    ASSERT_LE(slab.blocks_held(), used.size() / kSlots + 1 + kSpares);
  }
  EXPECT_EQ(slab.blocks_held(), kSpares) << "what comes and goes is not allocated each time";
  for (std::size_t i = 0; i < kSlots * (kSpares + 3); ++i) used.push_back(slab.allocate());
  EXPECT_EQ(slab.blocks_held(), kSpares + 3);
}

TEST(SlotSlab, OneSlotInEachOfManyBlocksKeepsASmallBlockOnly) {
  SlotSlab slab;
  std::vector<std::uint32_t> used;
  for (int i = 0; i < 6400; ++i) used.push_back(slab.allocate());
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (i % 64 != 0) slab.release(used[i]);
  }
  EXPECT_LE(slab.blocks_held(), slab.in_use() + kSpares);
  EXPECT_LE(SlotSlab::kBlockSlots * sizeof(Slot), 600U);
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
