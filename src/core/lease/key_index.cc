// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/key_index.h"

#include <algorithm>

namespace tenure::core {

void KeyIndex::insert(std::uint32_t hash, std::uint32_t slot) {
  TENURE_CHECK(slot != kNone);
  // At most 4/5 full: beyond, linear probing grows long.
  if ((size_ + 1) * 5 > entries_.size() * 4) resize(std::max(kSmallest, entries_.size() * 2));
  place({hash, slot});
  ++size_;
}

void KeyIndex::erase(std::uint32_t hash, std::uint32_t slot) {
  TENURE_CHECK(size_ > 0);
  std::size_t hole = home(hash);
  while (entries_[hole].slot != slot) {
    TENURE_CHECK(entries_[hole].slot != kNone);
    hole = next(hole);
  }
  // Close the gap instead of leaving a mark: an entry may move back if its home is not after the
  // hole, counted round the table.
  for (std::size_t at = next(hole); entries_[at].slot != kNone; at = next(at)) {
    const std::size_t mask = entries_.size() - 1;
    if (((at - home(entries_[at].hash)) & mask) >= ((at - hole) & mask)) {
      entries_[hole] = entries_[at];
      hole = at;
    }
  }
  entries_[hole] = Entry{};
  --size_;
  if (entries_.size() > kSmallest && size_ * 8 < entries_.size()) resize(entries_.size() / 4);
}

void KeyIndex::place(Entry entry) noexcept {
  TENURE_CHECK(entry.slot != kNone && size_ < entries_.size());
  std::size_t at = home(entry.hash);
  while (entries_[at].slot != kNone) at = next(at);
  entries_[at] = entry;
}

void KeyIndex::resize(std::size_t capacity) {
  TENURE_CHECK(std::has_single_bit(capacity) && size_ * 5 <= capacity * 4);
  std::vector<Entry> old(std::max(kSmallest, capacity));
  old.swap(entries_);
  for (const Entry& entry : old) {
    if (entry.slot != kNone) place(entry);
  }
}

}  // namespace tenure::core
