// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/lease/key_text.h"

#include <tenure/work.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace tenure::runtime {

/// Where producers leave work while another thread is inside the machine, so that they need not
/// wait for it nor drag the machine's memory to their own processor: a bounded ring for many
/// producers and one consumer at a time (the one that holds the lease's lock).
///
/// The consumer shows now and then how far it has come, and always before it goes, after which it
/// looks once more. So a producer that sees, after its push, that an earlier piece is still there
/// may rely on whoever takes that one.
class LeaseInbox {
 public:
  static constexpr std::uint32_t kCapacity = 256;

  LeaseInbox() noexcept {
    for (std::uint32_t i = 0; i < kCapacity; ++i) cells_[i].turn.store(i);
  }

  enum class Push : std::uint8_t {
    full,    ///< No room; key and work are as they were.
    first,   ///< Nothing earlier is there: see to it that somebody looks.
    behind,  ///< Behind an earlier piece.
  };

  /// A key on its way in. Up to 64 bytes travel in the ring, since what one thread allocates and
  /// another frees is slow. For longer ones memory is taken here, before there is anything to undo.
  class Key {
   public:
    explicit Key(std::string_view text)
        : copied_(text.size() > core::KeyText::kInside && text.size() <= kCopied
                      ? text
                      : std::string_view()),
          own_(copied_.empty() ? text : std::string_view()) {}

   private:
    friend class LeaseInbox;
    std::string_view copied_;
    core::KeyText own_;
  };

  [[nodiscard]] Push push(Key& key, std::uint32_t hash, Work& work) noexcept {
    std::uint32_t at = tail_.load(std::memory_order_relaxed);
    for (;;) {
      // Asked first, so that the cells that are taken out just now are left where they are.
      const std::uint32_t waiting = at - shown_.load(std::memory_order_relaxed);
      if (static_cast<std::int32_t>(waiting) < 0) {  // others were faster
        at = tail_.load(std::memory_order_relaxed);
        continue;
      }
      if (waiting >= kCapacity) return Push::full;
      Cell& cell = cells_[at % kCapacity];
      const auto lead = static_cast<std::int32_t>(cell.turn.load(std::memory_order_acquire) - at);
      if (lead < 0) return Push::full;
      if (lead > 0) {
        at = tail_.load(std::memory_order_relaxed);
      } else if (tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
        if (waiting < kCapacity / 2) fetch(at + kFetchAhead);
        cell.hash = hash;
        cell.put(key);
        cell.work = std::move(work);
        // Sequentially consistent, as what is looked at after it: here, and the lock.
        cell.turn.store(at + 1);
        if (awaited_.load()) cell.turn.notify_one();
        return shown_.load() == at ? Push::first : Push::behind;
      }
    }
  }

  /// A producer is about to push.
  void expect() const noexcept {
    const std::uint32_t at = tail_.load(std::memory_order_relaxed);
    if (at - shown_.load(std::memory_order_relaxed) < kCapacity / 2) fetch(at);
  }

  /// How far the consumer has shown that it came.
  [[nodiscard]] std::uint32_t shown() const noexcept { return shown_.load(); }
  /// Whether the ring was empty when the consumer showed that, and is still. A hint.
  [[nodiscard]] bool seems_empty() const noexcept {
    return shown_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_relaxed);
  }

  /// Consumer: whether pop() has something. (Others may ask, and may be told lies.)
  [[nodiscard]] bool ready() const noexcept {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);
    return cells_[head % kCapacity].turn.load() == head + 1;
  }

  /// Consumer: where the next piece will be put. What was pushed before this is behind it.
  [[nodiscard]] std::uint32_t end() const noexcept { return tail_.load(); }
  /// Consumer: whether all before `end` has been popped.
  [[nodiscard]] bool drained_to(std::uint32_t end) const noexcept {
    return static_cast<std::int32_t>(head_.load(std::memory_order_relaxed) - end) >= 0;
  }

  /// Consumer: sleeps until what pop() would take next has been put there. Only where end() says
  /// that somebody is about to.
  void wait_for_next() noexcept {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);
    const std::atomic<std::uint32_t>& turn = cells_[head % kCapacity].turn;
    awaited_.store(true);
    for (std::uint32_t seen = turn.load(); seen != head + 1; seen = turn.load()) turn.wait(seen);
    awaited_.store(false);
  }

  /// Consumer: hands up to `most` pieces, oldest first, to `use(KeyText&&, hash, Work&&)`.
  /// `flooded`: many more are likely to be there.
  template <class Use>
  void pop(std::uint32_t most, bool flooded, Use&& use) {
    std::uint32_t head = head_.load(std::memory_order_relaxed);
    for (; most > 0; --most) {
      Cell& cell = cells_[head % kCapacity];
      if (cell.turn.load() != head + 1) break;
      if (flooded) fetch(head + kFetchAhead);
      use(cell.take_key(), cell.hash, std::move(cell.work));
      cell.turn.store(head + kCapacity, std::memory_order_release);
      ++head;
      if (head % kShowEvery == 0) shown_.store(head);
    }
    head_.store(head, std::memory_order_relaxed);
  }

  /// Consumer: shows how far it has come. To be called before it goes, and then ready().
  void show() noexcept {
    const std::uint32_t head = head_.load(std::memory_order_relaxed);
    if (shown_.load(std::memory_order_relaxed) != head) shown_.store(head);
  }

 private:
  static constexpr std::size_t kCopied = 64;

  // The second line is only for keys that are copied.
  struct alignas(64) Cell {
    std::atomic<std::uint32_t> turn{0};
    std::uint32_t hash = 0;
    Work work;
    core::KeyText own;
    std::uint32_t copied = 0;  // 0: `own` is the key
    alignas(64) char text[kCopied];

    void put(Key& key) noexcept {
      copied = static_cast<std::uint32_t>(key.copied_.size());
      if (copied != 0) std::memcpy(text, key.copied_.data(), copied);
      own = std::move(key.own_);
    }
    [[nodiscard]] core::KeyText take_key() {
      return copied != 0 ? core::KeyText({text, copied}) : std::move(own);
    }
  };

  // A line that another processor wrote last takes a quarter of a microsecond to come.
  void fetch(std::uint32_t at) const noexcept { __builtin_prefetch(&cells_[at % kCapacity], 1); }

  static constexpr std::uint32_t kFetchAhead = 6;
  static constexpr std::uint32_t kShowEvery = 32;

  alignas(64) std::atomic<std::uint32_t> tail_{0};
  alignas(64) std::atomic<std::uint32_t> shown_{0};
  std::atomic<bool> awaited_{false};
  alignas(64) std::atomic<std::uint32_t> head_{0};
  std::array<Cell, kCapacity> cells_;
};

}  // namespace tenure::runtime
