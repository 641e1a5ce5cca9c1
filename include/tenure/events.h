// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/leadership.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tenure {

/// Why a term ended. Every loss has exactly one reason.
enum class LossReason {
  expired,       ///< The deadline came near without a renewal: store or network out of reach.
  taken_over,    ///< Another holder was seen.
  deleted,       ///< Our record was seen to be gone, and nobody else holds.
  yielded,       ///< yield() was asked for, or the work ended by itself.
  stopped,       ///< stop() was asked for.
  unauthorized,  ///< The store refused the renewals: credentials or permissions.
  fatal,         ///< The store is closed, damaged, or does not support the request.
};

/// "expired", "taken_over", ... as in JSON and logs. Thread-safe.
std::string_view to_string(LossReason reason) noexcept;

/// Where a candidate is.
enum class Phase {
  idle,           ///< Not started.
  standing,       ///< Wants to lead; somebody else does, or nobody yet.
  leading,        ///< Leads; held() is true.
  stepping_down,  ///< No longer leads, or about to end; waits for its work to end.
  pausing,        ///< Has yielded; lets another be elected first.
  stopped,        ///< Ended for good.
};

/// "idle", "standing", ... as in logs and status. Thread-safe.
std::string_view to_string(Phase phase) noexcept;

/// A term has begun: `leadership.held()` was true when this was written.
struct Elected {
  Leadership leadership;
};

/// The term has ended: held() was false before this was written.
struct Lost {
  std::uint64_t token = 0;
  LossReason reason = LossReason::expired;
  std::string detail;  ///< For people: what was seen. May be empty.
};

/// Another holder (its id and token), or nobody ("", 0).
struct HolderChanged {
  std::string holder;
  std::uint64_t token = 0;
};

/// Something needs attention; the candidate goes on by itself. Repeated errors of one outage of the
/// store are reported once, then at growing intervals; `recovered` closes the outage.
struct Trouble {
  Error error;
  bool recovered = false;
  /// Not the store's fault: the work goes on although its term is over. Never `recovered`.
  bool of_work = false;
};

/// The election has ended: stop(), give_up_after, or an answer of the store that waiting does not
/// mend (corrupt, unsupported, invalid_argument, closed). Always the last event.
struct Stopped {
  std::optional<Error> error;  ///< Set when it gave up by itself.
};

using EventBody = std::variant<Elected, Lost, HolderChanged, Trouble, Stopped>;

/// One entry of an election's event stream. Elected and Lost strictly alternate, beginning with
/// Elected; every Elected is followed by its Lost before Stopped.
struct Event {
  EventBody body;
  WallTime wall{};  ///< When it happened, for people.
  /// How many whole terms (an Elected with its Lost) before this event were folded away because
  /// nobody read them and `event_capacity` was reached. HolderChanged and Trouble are replaced by
  /// newer ones without being counted: the latest state always gets through.
  std::uint64_t folded_terms = 0;
};

}  // namespace tenure
