// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/check.h"
#include "core/lease/key_text.h"

#include <tenure/time.h>
#include <tenure/work.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenure::core {

/// Which list a slot was put into. Lists are emptied into one another as a whole, without visiting
/// their members, so a label is true only together with the list's epoch (see WorkQueue).
enum class ListName : std::uint8_t {
  due,       ///< Its own time has come; only the lease may hold it back.
  resting,   ///< A follower's new work: gives the leader a chance first.
  retrying,  ///< Waits for its retry interval.
  behind,    ///< Due, but its key is running.
  none       ///< In no list: free, or running with nothing newer.
};

/// Why work was taken out of the queue without having been done.
enum class DropReason : std::uint8_t { none, seen_elsewhere, removed };

/// Neighbours in a list.
struct Links {
  std::uint32_t prev = 0;
  std::uint32_t next = 0;
};

/// One key that has work: 72 bytes.
struct Slot {
  Work work;               ///< The newest; empty while it runs and nothing newer has come.
  KeyText key;             //
  Instant not_before{};    ///< When resting or retrying: the end of that.
  Links links;             //
  std::uint32_t hash = 0;  //
  std::uint16_t epoch = 0;
  ListName list = ListName::none;
  bool running : 1 = false;
  DropReason dropped : 2 = DropReason::none;  ///< Of the piece that runs: no retry any more.

  /// Whether there is work beside the piece that runs.
  [[nodiscard]] bool queued() const noexcept { return static_cast<bool>(work); }
  /// Whether the key counts as having work.
  [[nodiscard]] bool pending() const noexcept {
    return queued() || (running && dropped == DropReason::none);
  }
};

/// Slots by number, in blocks that never move, so that a key can be read while it runs. A block
/// without a slot in use is given back, but for a few. Blocks are small, since one key that stays
/// keeps a whole one.
class SlotSlab {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// Numbers from here on are never given out.
  static constexpr std::uint32_t kEnd = UINT32_MAX - 64;
  static constexpr std::uint32_t kBlockSlots = 8;
  /// So many empty blocks are kept: what comes and goes all the time need not be allocated anew.
  static constexpr std::uint32_t kSpareBlocks = 32;

  /// A slot as new.
  [[nodiscard]] std::uint32_t allocate();

  /// Gives it back. Its work and key must have been taken or reset.
  void release(std::uint32_t slot);

  [[nodiscard]] Slot& operator[](std::uint32_t slot) noexcept {
    return blocks_[slot / kBlockSlots].slots.get()[slot % kBlockSlots];
  }

  /// This slot, which is in use, will soon be read.
  void expect(std::uint32_t slot) const noexcept {
    TENURE_CHECK(slot / kBlockSlots < blocks_.size());
    const Block& block = blocks_[slot / kBlockSlots];
    TENURE_CHECK(block.slots != nullptr);
    const Slot* const at = &block.slots.get()[slot % kBlockSlots];
    __builtin_prefetch(at, 1);
    __builtin_prefetch(reinterpret_cast<const char*>(at + 1) - 1, 1);
  }

  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }
  [[nodiscard]] std::size_t blocks_held() const noexcept { return held_; }

 private:
  struct Block {
    std::unique_ptr<Slot[]> slots;  ///< Null: given back.
    std::uint8_t free = 0;          ///< A bit for each free slot.
    std::uint32_t prev = kNone;     ///< Neighbours among the open blocks,
    std::uint32_t next = kNone;     ///< or among the given back.
  };

  void open(std::uint32_t block) noexcept;
  void close(std::uint32_t block) noexcept;
  std::uint32_t add_block();
  void drop_block(std::uint32_t block) noexcept;

  std::vector<Block> blocks_;
  std::uint32_t open_ = kNone;  ///< First block with a free slot.
  std::uint32_t gone_ = kNone;  ///< First block given back, to be used again.
  std::uint32_t spares_ = 0;    ///< Empty blocks that are kept.
  std::size_t in_use_ = 0;
  std::size_t held_ = 0;
};

}  // namespace tenure::core
