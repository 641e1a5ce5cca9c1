// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backoff.h"
#include "core/lease/state.h"
#include "core/rng.h"

#include <tenure/time.h>
#include <tenure/work.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tenure::core {

/// The writer lease once more, slow and obvious, written from the table and the sentences of
/// docs/writer-lease.md: a map of keys, and loops over it. What the real machine does is compared
/// with this after every step.
class LeaseTwin {
 public:
  enum class Wait { none, rest, retry };
  struct Piece {
    int id = 0;
    Instant due{};
    Wait wait = Wait::none;
  };
  struct Key {
    std::optional<Piece> queued;
    std::optional<int> running;
    bool dropped = false;          // of what runs
    bool dropped_as_seen = false;  // how
  };

  LeaseTwin(const LeaseTerms& terms, std::uint64_t seed) : terms_(terms), rng_(seed) {
    terms_.backoff.limit = terms.lease;
  }

  void submit(const std::string& key, int id, Instant now) {
    ++counters.submitted;
    Piece piece{id, now, Wait::none};
    if (state == WriterState::following) {
      piece.due = now + 2 * terms_.backoff.first;
      piece.wait = Wait::rest;
    }
    if (auto& queued = keys[key].queued) {
      ++counters.replaced;
      if (queued->due <= piece.due) {
        piece.due = queued->due;
        piece.wait = queued->wait;
      }
    }
    keys[key].queued = piece;
  }

  bool extend(const std::string& key, Instant now) {
    if (!drop(key, true)) return false;
    if (state == WriterState::following) {
      ++tick;
      expires = now + terms_.backoff.at(tick, rng_);
    }
    return true;
  }

  bool remove(const std::string& key) { return drop(key, false); }

  void expire(Instant now) {
    expires = kLongAgo;
    if (state != WriterState::following) return;
    for (auto& [name, key] : keys) {
      if (key.queued) end_wait(*key.queued, now);
    }
  }

  [[nodiscard]] bool may_run(const std::string& name, Instant now) const {
    const auto found = keys.find(name);
    if (found == keys.end() || !found->second.queued || found->second.running) return false;
    return found->second.queued->due <= now && lease_lets(now);
  }

  [[nodiscard]] bool any_may_run(Instant now) const {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const auto& entry) { return may_run(entry.first, now); });
  }

  int start(const std::string& name) {
    Key& key = keys[name];
    key.running = key.queued->id;
    key.queued.reset();
    ++counters.runs;
    if (state == WriterState::following) {
      probe = name;
      ++counters.probes;
    }
    return *key.running;
  }

  void finish(const std::string& name, WorkResult result, Instant now) {
    if (probe == name) probe.reset();
    apply(result.effect, now);
    Key& key = keys[name];
    const int id = *key.running;
    key.running.reset();
    const bool dropped = std::exchange(key.dropped, false);
    const Instant retry_at = now + terms_.retry_interval;
    if (!result.retry) {
      ++counters.done;
    } else if (dropped) {
      ++(key.dropped_as_seen ? counters.seen_elsewhere : counters.removed);
    } else if (key.queued) {
      ++counters.replaced;
      if (retry_at < key.queued->due) {
        key.queued->due = retry_at;
        key.queued->wait = Wait::retry;
      }
    } else {
      ++counters.retries;
      key.queued = Piece{id, retry_at, Wait::retry};
    }
  }

  /// The first instant from `now` on at which something may run; kNever without a further input.
  [[nodiscard]] Instant next_due(Instant now) const {
    if (state == WriterState::following && probe) return kNever;
    Instant next = kNever;
    for (const auto& [name, key] : keys) {
      if (!key.queued || key.running) continue;
      Instant due = std::max(key.queued->due, now);
      if (state == WriterState::following) due = std::max(due, expires);
      next = std::min(next, due);
    }
    return next;
  }

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(std::count_if(keys.begin(), keys.end(), [](const auto& entry) {
      return entry.second.queued || (entry.second.running && !entry.second.dropped);
    }));
  }

  WriterState state = WriterState::electing;
  Instant expires = kLongAgo;
  std::uint32_t tick = 0;
  std::optional<std::string> probe;
  std::map<std::string, Key> keys;
  WriterCounters counters;

 private:
  [[nodiscard]] bool lease_lets(Instant now) const {
    return state != WriterState::following || (expires <= now && !probe);
  }

  static void end_wait(Piece& piece, Instant now) {
    piece.due = std::min(piece.due, now);
    piece.wait = Wait::none;
  }

  bool drop(const std::string& name, bool as_seen) {
    Key& key = keys[name];
    const bool running = key.running && !key.dropped;
    if (!key.queued && !running) return false;
    if (key.queued) ++(as_seen ? counters.seen_elsewhere : counters.removed);
    key.queued.reset();
    if (running) {
      key.dropped = true;
      key.dropped_as_seen = as_seen;
    }
    return true;
  }

  void apply(WorkEffect effect, Instant now) {
    const WriterState before = state;
    if (effect == WorkEffect::extend) {
      state = WriterState::leading;
      if (before != WriterState::leading) tick = 0;
      expires = now + terms_.lease;
    } else if (effect == WorkEffect::release) {
      state = WriterState::following;
      tick = before == WriterState::following ? tick + 1 : 0;
      expires = now + terms_.backoff.at(tick, rng_);
    }
    if (state != before) ++counters.state_changes;
    if (state == before || state != WriterState::leading) return;
    for (auto& [name, key] : keys) {
      if (key.queued && key.queued->wait == Wait::rest) end_wait(*key.queued, now);
    }
  }

  LeaseTerms terms_;
  Rng rng_;
};

}  // namespace tenure::core
