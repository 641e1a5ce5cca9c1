// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backoff.h"
#include "core/rng.h"

#include <tenure/time.h>
#include <tenure/work.h>

#include <cstdint>

namespace tenure::core {

/// The settings of a writer lease that its machines need. Checked before they come here.
struct LeaseTerms {
  Duration lease = std::chrono::seconds(60);
  Duration retry_interval = std::chrono::seconds(1);
  /// `limit` is ignored: the lease is the limit.
  StepBackoff backoff{};
};

/// The state table of the writer lease: who writes, until when a follower stands back, and how far
/// its backoff has come. Knows nothing of keys. One thread at a time.
class LeaseState {
 public:
  LeaseState(const LeaseTerms& terms, std::uint64_t seed) noexcept;

  /// A piece of work ended with this effect.
  void on_result(WorkEffect effect, Instant now) noexcept;

  /// Another writer was seen doing work that was pending here.
  void on_seen_elsewhere(Instant now) noexcept;

  /// The lease is over, whatever it was; the state stays.
  void expire() noexcept { expires_ = kLongAgo; }

  /// Whether the lease keeps work from running at `now`.
  [[nodiscard]] bool holds_back(Instant now) const noexcept {
    return state_ == WriterState::following && expires_ > now;
  }

  [[nodiscard]] WriterState state() const noexcept { return state_; }
  [[nodiscard]] Instant expires() const noexcept { return expires_; }
  [[nodiscard]] std::uint32_t tick() const noexcept { return tick_; }

  /// Whether a first result has decided who writes.
  [[nodiscard]] bool resolved() const noexcept { return state_ != WriterState::electing; }

 private:
  [[nodiscard]] std::uint32_t next_tick() const noexcept;
  void back_off(std::uint32_t tick, Instant now) noexcept;

  StepBackoff backoff_;
  Duration lease_;
  Rng rng_;
  WriterState state_ = WriterState::electing;
  Instant expires_ = kLongAgo;
  std::uint32_t tick_ = 0;
};

}  // namespace tenure::core
