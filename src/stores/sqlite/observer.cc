// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/observer.h"

#include <algorithm>
#include <utility>

namespace tenure::sqlite {

Result<Observation> Observer::look(Table& table, const Ledger& ledger, Instant now, Depth depth,
                                   bool present) {
  Observation seen;
  if (!is_fresh_) depth = Depth::full;
  if (auto done = read(table, depth, seen); !done) {
    return tl::unexpected<Error>(std::move(done.error()));
  }
  // Renewals leave no trace that wakes anybody, so a holder that seems to have run out may have
  // renewed.
  if (depth != Depth::full && has_run_out(now)) {
    if (auto done = read(table, Depth::full, seen); !done) {
      return tl::unexpected<Error>(std::move(done.error()));
    }
  }
  seen.as_of = as_of_;
  judge(ledger, now, seen);
  if (present) {
    seen.has_present = true;
    for (const auto& [name, known] : known_) {
      seen.present.push_back(ledger.state_of(known.row, known.is_shown, as_of_));
    }
  }
  return seen;
}

Observation Observer::look_at_nothing(bool present) {
  Observation seen;
  is_fresh_ = false;
  seen.as_of = as_of_;
  for (const auto& [name, known] : known_) tell_gone(known, seen);
  known_.clear();
  seen.has_present = present;
  return seen;
}

bool Observer::has_run_out(Instant now) const {
  return std::any_of(known_.begin(), known_.end(), [&](const auto& each) {
    return each.second.is_shown && each.second.row.expires <= now;
  });
}

Result<void> Observer::read(Table& table, Depth depth, Observation& seen) {
  auto version = table.data_version();
  if (!version) return tl::unexpected<Error>(std::move(version.error()));
  if (depth != Depth::full && is_fresh_ && *version == version_) return {};
  auto revision = table.last_revision();
  if (!revision) return tl::unexpected<Error>(std::move(revision.error()));
  if (depth == Depth::slow) {
    auto count = table.count();
    if (!count) return tl::unexpected<Error>(std::move(count.error()));
    if (*count < known_.size()) depth = Depth::full;
  }
  auto rows = table.changed_since(depth == Depth::full ? 0 : seen_change_);
  if (!rows) return tl::unexpected<Error>(std::move(rows.error()));
  as_of_ = std::max(as_of_, *revision);
  seen_change_ = *revision;
  version_ = *version;
  is_fresh_ = true;
  take_in(std::move(*rows), depth == Depth::full, seen);
  return {};
}

void Observer::take_in(std::vector<Row> rows, bool all, Observation& seen) {
  if (all) {
    std::erase_if(known_, [&](const auto& each) {
      const bool is_there =
          std::binary_search(rows.begin(), rows.end(), each.second.row,
                             [](const Row& a, const Row& b) { return a.name < b.name; });
      if (!is_there) tell_gone(each.second, seen);
      return !is_there;
    });
  }
  for (Row& row : rows) {
    Known& known = known_[row.name];
    if (known.row.token != row.token || known.row.session != row.session) known.is_dead = false;
    known.row = std::move(row);
  }
}

void Observer::judge(const Ledger& ledger, Instant now, Observation& seen) {
  for (auto& [name, known] : known_) {
    const bool was_shown = known.is_shown;
    const bool is_held = !known.is_dead && ledger.is_held(known.row, now);
    if (known.row.is_held && !is_held) known.is_dead = true;
    known.is_shown = is_held;
    if (is_held) {
      seen.any_held = true;
      seen.next_expiry = std::min(seen.next_expiry, known.row.expires);
    }
    const bool is_new = is_held && (known.shown_token != known.row.token ||
                                    known.shown_session != known.row.session);
    if (was_shown != is_held || is_new) {
      seen.changed.push_back(ledger.state_of(known.row, is_held, as_of_));
    }
    known.shown_token = known.row.token;
    known.shown_session = known.row.session;
  }
}

void Observer::tell_gone(const Known& known, Observation& seen) const {
  if (!known.is_shown) return;
  ElectionState state;
  state.election = known.row.name;
  state.as_of = as_of_;
  seen.changed.push_back(std::move(state));
}

}  // namespace tenure::sqlite
