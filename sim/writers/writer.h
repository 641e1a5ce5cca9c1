// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/lease/contention.h"
#include "core/lease/core.h"
#include "writers/world.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenure::sim {

using Value = std::uint32_t;

/// What the store holds of one key.
struct Object {
  Value value = 0;
  std::uint64_t version = 1;
};

/// One replica: what it wants, what it has seen, and its lease.
class Writer {
 public:
  Writer(const WritersOptions& options, std::uint64_t seed);

  /// A write that is on its way.
  struct Write {
    std::size_t key = 0;
    Value value = 0;
    std::uint64_t on_version = 0;
  };

  void want(std::size_t key, Value value, Instant now);
  void see(std::size_t key, const Object& object, Instant now);

  /// Runs what is due until something must be written or nothing is due. One write at a time.
  [[nodiscard]] std::optional<Write> run(Instant now);

  /// The store's answer to the write that is on its way.
  void answer(bool accepted, const Object& object, Instant now);

  /// When run() should be called again; kNever while a write is on its way.
  [[nodiscard]] Instant next_due() noexcept;

  [[nodiscard]] bool leads() const noexcept {
    return lease_.state().state() == WriterState::leading;
  }
  [[nodiscard]] bool elects() const noexcept { return !lease_.state().resolved(); }
  [[nodiscard]] std::size_t pending() const noexcept { return lease_.size(); }
  [[nodiscard]] Value wanted(std::size_t key) const noexcept { return keys_[key].wanted; }

 private:
  struct Key {
    std::string name;
    std::uint32_t hash = 0;
    Value wanted = 0;
    Object seen;
    core::Contention contention;
  };

  void submit(const Key& key, Instant now);
  [[nodiscard]] std::size_t index_of(std::string_view name) const noexcept;

  bool guarded_;
  core::ContentionTerms terms_;
  core::LeaseCore lease_;
  std::vector<Key> keys_;
  core::LeaseCore::Job job_;
  std::size_t writing_ = 0;
};

}  // namespace tenure::sim
