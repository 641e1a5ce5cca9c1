// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/store.h>

#include <string>

#include "stores/sqlite/session_lock.h"
#include "stores/sqlite/table.h"

namespace tenure::sqlite {

/// The rules of the store: who holds, and what each verb makes of the rows. Lives for one
/// transaction, which the caller begins and ends.
class Ledger {
 public:
  Ledger(Table& table, const SessionLock& lock, const std::string& boot_id, const Clock& clock)
      : table_(table), lock_(lock), boot_id_(boot_id), clock_(clock) {}

  /// What acquire can answer without writing: another holds. Empty: a write is needed.
  [[nodiscard]] Result<std::optional<AcquireReply>> refuse(const AcquireRequest& request);

  [[nodiscard]] Result<AcquireReply> acquire(const AcquireRequest& request, Instant sent_at);
  [[nodiscard]] Result<RenewReply> renew(const RenewRequest& request, Instant sent_at);
  [[nodiscard]] Result<ReleaseReply> release(const ReleaseRequest& request);
  [[nodiscard]] Result<std::vector<ElectionState>> list(const std::string& election);

  /// Whether the holder that a row names holds now: not if the ttl has passed, if the machine was
  /// rebooted since, or if the kernel says that the holder is dead.
  [[nodiscard]] bool is_held(const Row& row, Instant now) const;

  [[nodiscard]] Record record_of(const Row& row) const;
  [[nodiscard]] ElectionState state_of(const Row& row, bool held, std::uint64_t as_of) const;

  /// Whether the holder of any election was changed, so that watchers have something to see.
  [[nodiscard]] bool has_changed() const noexcept { return has_changed_; }

 private:
  /// A number above all that were handed out before, whatever the database has lost since.
  [[nodiscard]] Result<std::uint64_t> next_revision();
  [[nodiscard]] Result<Record> grant(const AcquireRequest& request, Instant now);

  Table& table_;
  const SessionLock& lock_;
  const std::string& boot_id_;
  const Clock& clock_;
  bool has_changed_ = false;
};

}  // namespace tenure::sqlite
