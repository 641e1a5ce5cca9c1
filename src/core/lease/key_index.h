// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/check.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenure::core {

/// From the hash of a key to the number of its slot: an open-addressing table of 8-byte entries,
/// between 10 and 20 bytes a key. The keys themselves are in the slots, so a lookup asks the caller
/// whether a slot is the one. Shrinks as it empties: what is gone holds no memory.
class KeyIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The slot among those with this hash for which `is(slot)` is true, or kNone.
  template <class Is>
  [[nodiscard]] std::uint32_t find(std::uint32_t hash, Is&& is) const {
    if (entries_.empty()) return kNone;
    for (std::size_t at = home(hash);; at = next(at)) {
      const Entry entry = entries_[at];
      if (entry.slot == kNone) return kNone;
      if (entry.hash == hash && is(entry.slot)) return entry.slot;
    }
  }

  /// A key with this hash will soon be looked up: what that reads first is on its way then.
  void expect(std::uint32_t hash) const noexcept {
    if (!entries_.empty()) __builtin_prefetch(&entries_[home(hash)]);
  }

  /// Adds a slot that is not there yet.
  void insert(std::uint32_t hash, std::uint32_t slot);

  /// Takes out a slot that is there.
  void erase(std::uint32_t hash, std::uint32_t slot);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::uint32_t hash = 0;
    std::uint32_t slot = kNone;
  };
  static constexpr std::size_t kSmallest = 64;

  [[nodiscard]] std::size_t home(std::uint32_t hash) const noexcept {
    return hash & (entries_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
    return (at + 1) & (entries_.size() - 1);
  }
  void place(Entry entry) noexcept;
  void resize(std::size_t capacity);

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

}  // namespace tenure::core
