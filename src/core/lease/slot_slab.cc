// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/slot_slab.h"

#include <bit>

namespace tenure::core {
namespace {

constexpr std::uint8_t kAllFree = UINT8_MAX;
// Up to here the list of blocks is small enough to be kept for good.
constexpr std::size_t kSmallList = 512;

}  // namespace

static_assert(SlotSlab::kBlockSlots == 8, "a block's free slots are the bits of one byte");
static_assert(sizeof(Slot) == 72, "the memory of a pending key is promised in docs/performance.md");

std::uint32_t SlotSlab::allocate() {
  if (open_ == kNone) open(add_block());
  const std::uint32_t number = open_;
  Block& block = blocks_[number];
  TENURE_CHECK(block.slots != nullptr && block.free != 0);
  if (block.free == kAllFree && spares_ > 0) --spares_;
  const auto bit = static_cast<std::uint32_t>(std::countr_zero(block.free));
  block.free &= static_cast<std::uint8_t>(block.free - 1);
  if (block.free == 0) close(number);
  ++in_use_;
  return number * kBlockSlots + bit;
}

void SlotSlab::release(std::uint32_t slot) {
  const std::uint32_t number = slot / kBlockSlots;
  TENURE_CHECK(number < blocks_.size() && in_use_ > 0);
  Block& block = blocks_[number];
  const auto bit = static_cast<std::uint8_t>(1U << (slot % kBlockSlots));
  TENURE_CHECK(block.slots != nullptr && (block.free & bit) == 0);
  if (block.free == 0) open(number);
  block.free |= bit;
  --in_use_;
  if (block.free != kAllFree) return;
  if (spares_ < kSpareBlocks) {
    ++spares_;
  } else {
    drop_block(number);
  }
  // The list of blocks itself is memory too, once there were millions.
  if (in_use_ == 0 && blocks_.size() > kSmallList) {
    blocks_ = std::vector<Block>();
    open_ = gone_ = kNone;
    spares_ = 0;
    held_ = 0;
  }
}

void SlotSlab::open(std::uint32_t number) noexcept {
  Block& block = blocks_[number];
  block.prev = kNone;
  block.next = open_;
  if (open_ != kNone) blocks_[open_].prev = number;
  open_ = number;
}

void SlotSlab::close(std::uint32_t number) noexcept {
  const Block& block = blocks_[number];
  if (block.prev != kNone) blocks_[block.prev].next = block.next;
  if (block.next != kNone) blocks_[block.next].prev = block.prev;
  if (open_ == number) open_ = block.next;
}

std::uint32_t SlotSlab::add_block() {
  auto slots = std::make_unique<Slot[]>(kBlockSlots);
  std::uint32_t number = gone_;
  if (number == kNone) {
    number = static_cast<std::uint32_t>(blocks_.size());
    TENURE_CHECK(number < kEnd / kBlockSlots);
    blocks_.emplace_back();
  } else {
    gone_ = blocks_[number].next;
    TENURE_CHECK(blocks_[number].slots == nullptr);
  }
  blocks_[number].slots = std::move(slots);
  blocks_[number].free = kAllFree;
  ++held_;
  return number;
}

void SlotSlab::drop_block(std::uint32_t number) noexcept {
  close(number);
  Block& block = blocks_[number];
  TENURE_CHECK(block.free == kAllFree && held_ > 0);
  block.slots.reset();
  block.free = 0;
  block.next = gone_;
  gone_ = number;
  --held_;
}

}  // namespace tenure::core
