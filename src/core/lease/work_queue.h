// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/lease/key_index.h"
#include "core/lease/slot_slab.h"

#include <tenure/time.h>
#include <tenure/work.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenure::core {

/// The keyed delaying queue: at most one pending piece of work a key, the newest; a key that runs
/// does not run twice at once; of two times at which a key is due, the earlier one counts.
///
/// There are only two ways to wait, each of constant length, and time does not go back: so each is
/// a list in order of time, and everything here is O(1). Whether the lease lets due work run is not
/// known here. One thread at a time.
class WorkQueue {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  WorkQueue() noexcept;

  /// When new work may run.
  enum class Start : std::uint8_t {
    at_once,
    rested  ///< Not before `not_before`, which must not be earlier than that of any other.
  };

  /// What drop() found.
  struct Dropped {
    bool pending = false;  ///< Whether the key had work, waiting or running.
    Work work;             ///< What waited; empty if there was none.
  };

  /// A piece of work that runs now.
  struct Taken {
    std::uint32_t slot = kNone;
    std::string_view key;  ///< Valid until finish(); may be read without holding any lock.
    Work work;
  };

  /// What became of a piece of work that ended and wanted a retry.
  enum class Fate : std::uint8_t {
    done,            ///< It wanted none.
    retried,         ///< It waits for its next run.
    replaced,        ///< Newer work of its key is there instead.
    seen_elsewhere,  ///< It was dropped while it ran.
    removed,         ///< It was dropped while it ran.
  };
  struct Finished {
    Fate fate = Fate::done;
    Work work;  ///< To be destroyed; empty if it is retried.
  };

  /// Makes `work` the key's newest. Returns what it replaced; empty if nothing waited.
  Work put(std::string_view key, std::uint32_t hash, Work work, Start start, Instant not_before);
  Work put(KeyText&& key, std::uint32_t hash, Work work, Start start, Instant not_before);

  /// Takes a key's waiting work out, and keeps what runs from being retried.
  Dropped drop(std::string_view key, std::uint32_t hash, DropReason reason);

  /// Keys with these hashes will soon be put or dropped: their memory is fetched side by side.
  void expect(std::span<const std::uint32_t> hashes) const noexcept;

  /// The next piece whose own time has come; `slot` is kNone if there is none.
  [[nodiscard]] Taken take(Instant now);

  /// The piece ended. If `retry`, it is due again at `retry_at`, which must not be earlier than
  /// that of any other.
  Finished finish(std::uint32_t slot, Work work, bool retry, Instant retry_at);

  /// Whatever rests is due now: the lease is ours.
  void end_rest() noexcept;

  /// Whatever waits is due now, retries too.
  void end_all_waits() noexcept;

  /// When take() may give something: kLongAgo if that is now, kNever if nothing waits.
  [[nodiscard]] Instant next_due() noexcept;

  /// Keys with work, waiting or running.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// To end everything: takes out one waiting piece, whichever; empty if none waits.
  [[nodiscard]] Work take_any();

  [[nodiscard]] const SlotSlab& slab() const noexcept { return slots_; }
  [[nodiscard]] const KeyIndex& index() const noexcept { return index_; }

 private:
  // List heads are told from slots by their numbers, so that unlinking need not know the list.
  static constexpr std::uint32_t kHeads = SlotSlab::kEnd;

  [[nodiscard]] static constexpr std::uint32_t head_of(ListName name) noexcept {
    return kHeads + static_cast<std::uint32_t>(name);
  }
  [[nodiscard]] Links& links(std::uint32_t number) noexcept {
    return number >= kHeads ? heads_[number - kHeads] : slots_[number].links;
  }
  [[nodiscard]] std::uint32_t first(ListName name) const noexcept {
    return heads_[static_cast<std::size_t>(name)].next;
  }
  [[nodiscard]] bool empty(ListName name) const noexcept { return first(name) == head_of(name); }
  [[nodiscard]] std::uint32_t find(std::string_view key, std::uint32_t hash) noexcept;
  [[nodiscard]] bool is_in(const Slot& slot, ListName name) const noexcept {
    return slot.list == name && slot.epoch == epochs_[static_cast<std::size_t>(name)];
  }
  void append(std::uint32_t number, ListName name) noexcept;
  void unlink(std::uint32_t number) noexcept;
  void move(std::uint32_t number, ListName name) noexcept;
  void splice_to_due(ListName name) noexcept;
  bool promote(ListName name, Instant now) noexcept;
  void free(std::uint32_t number);
  void add(std::uint32_t number, std::uint32_t hash, Work work, Start start, Instant not_before);
  Work renew(std::uint32_t number, Work work, Start start, Instant not_before);

  SlotSlab slots_;
  KeyIndex index_;
  std::array<Links, 4> heads_{};
  std::array<std::uint16_t, 4> epochs_{};
  std::size_t size_ = 0;
};

}  // namespace tenure::core
