// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/lease/state.h"
#include "core/lease/work_queue.h"

#include <tenure/time.h>
#include <tenure/work.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace tenure::core {

/// The writer lease as a pure machine: the state table over the keyed queue, and the probe.
///
/// Drive it so: hand every input in with the present time; then take() and run what it gives until
/// it gives nothing; then do nothing before next_due() or the next input. Time must not go back.
/// Whatever work comes out of it (replaced, dropped, ended) is the driver's to destroy, outside any
/// lock: a capture's destructor may call back.
///
/// One thread at a time; Job::key may be read meanwhile.
class LeaseCore {
 public:
  LeaseCore(const LeaseTerms& terms, std::uint64_t seed) noexcept;

  /// A piece of work that is to be run now, and then given back to finish().
  struct Job {
    std::uint32_t slot = WorkQueue::kNone;
    bool probe = false;    ///< The one piece that a follower runs to see whether it may write.
    std::string_view key;  ///< Valid until finish().
    Work work;

    explicit operator bool() const noexcept { return slot != WorkQueue::kNone; }
  };

  /// What a finished piece changed.
  struct Outcome {
    bool state_changed = false;
    bool resolved = false;  ///< This was the first result that decided.
    Work ended;             ///< Empty if it will be retried.
  };

  /// `key`'s newest work. Returns what it replaced.
  Work submit(std::string_view key, std::uint32_t hash, Work work, Instant now);
  Work submit(KeyText&& key, std::uint32_t hash, Work work, Instant now);

  /// Another writer was seen doing this key's work.
  WorkQueue::Dropped extend(std::string_view key, std::uint32_t hash, Instant now);

  /// Keys with these hashes will be handed in next. Only makes that faster.
  void expect(std::span<const std::uint32_t> hashes) const noexcept { queue_.expect(hashes); }

  /// The key's work is not wanted any more.
  WorkQueue::Dropped remove(std::string_view key, std::uint32_t hash);

  /// The lease is over: a follower's work is due at once.
  void expire() noexcept;

  /// The next piece that may run at `now`; false if there is none.
  [[nodiscard]] Job take(Instant now);

  /// The piece has run with this result.
  Outcome finish(Job job, WorkResult result, Instant now);

  /// When take() may give something without a further input: kLongAgo if that is now, kNever if
  /// nothing waits, or if all waits for the probe.
  [[nodiscard]] Instant next_due() noexcept;

  /// To end everything: takes out one waiting piece; empty if none waits.
  [[nodiscard]] Work abandon_one();

  [[nodiscard]] const LeaseState& state() const noexcept { return state_; }
  [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }
  [[nodiscard]] bool probing() const noexcept { return probing_; }
  [[nodiscard]] const WriterCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] const WorkQueue& queue() const noexcept { return queue_; }

 private:
  [[nodiscard]] WorkQueue::Start start() const noexcept;
  [[nodiscard]] Instant rested_at(Instant now) const noexcept;
  Work count(Work replaced) noexcept;

  LeaseTerms terms_;
  Duration rest_;
  LeaseState state_;
  WorkQueue queue_;
  WriterCounters counters_;
  bool probing_ = false;
};

}  // namespace tenure::core
