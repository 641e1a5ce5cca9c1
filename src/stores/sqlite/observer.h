// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/store.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stores/sqlite/ledger.h"

namespace tenure::sqlite {

/// How closely to look.
enum class Depth {
  changes,  ///< What a bell or a death can have changed.
  slow,     ///< Also rows that somebody deleted by hand.
  full,     ///< Every row.
};

/// What a look has shown.
struct Observation {
  std::uint64_t as_of = 0;
  std::vector<ElectionState> changed{};  ///< Since the look before, ordered by name.
  std::vector<ElectionState> present{};  ///< All, ordered by name, if they were asked for.
  bool has_present = false;
  Instant next_expiry = kNever;  ///< When to look again at the latest.
  bool any_held = false;         ///< Somebody holds, and may die.
};

/// Remembers what it saw last, and tells what is different now.
class Observer {
 public:
  /// Everything must be read anew, as after a change of the file.
  void forget_version() noexcept { is_fresh_ = false; }

  /// Our own commits do not show in the data version, which tells of other connections only.
  void note_own_change() noexcept { version_ = -1; }

  /// Within a read transaction, or without one if `Depth::changes` finds nothing new.
  [[nodiscard]] Result<Observation> look(Table& table, const Ledger& ledger, Instant now,
                                         Depth depth, bool present);

  /// As look(), where there is no database (any more).
  [[nodiscard]] Observation look_at_nothing(bool present);

 private:
  struct Known {
    Row row;
    bool is_shown = false;  ///< As the holder, in the last state that was told.
    std::uint64_t shown_token = 0;
    std::string shown_session{};
    bool is_dead = false;  ///< This term's holder. Final, whoever locks the same byte later.
  };
  [[nodiscard]] bool has_run_out(Instant now) const;
  [[nodiscard]] Result<void> read(Table& table, Depth depth, Observation& seen);
  void take_in(std::vector<Row> rows, bool all, Observation& seen);
  void judge(const Ledger& ledger, Instant now, Observation& seen);
  void tell_gone(const Known& known, Observation& seen) const;

  std::map<std::string, Known, std::less<>> known_;
  std::uint64_t as_of_ = 0;  ///< Never falls, even if the database is replaced.
  std::uint64_t seen_change_ = 0;
  std::int64_t version_ = 0;
  bool is_fresh_ = false;
};

}  // namespace tenure::sqlite
