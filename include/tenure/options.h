// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/time.h>

#include <cstddef>
#include <optional>
#include <string>

namespace tenure {

/// What to do when work goes on although its term is over.
enum class Overrun {
  /// Do not release: the record lapses by its ttl, and this process does not stand again before
  /// the work has ended. Safe for work whose resource checks tokens.
  lapse,
  /// Call the fatal hook (default: abort the process) when the deadline comes and the work has not
  /// ended. From a thread that no user code can block.
  abort,
};

/// How one candidate behaves. Everything has a safe default but `name`; spans that are not set are
/// derived from the ttl, and satisfy the relations that validate() checks unless others are set: a
/// grace above a quarter of the ttl, say, needs a shorter renew_interval and request_limit beside
/// it.
struct ElectionOptions {
  /// The election to stand in: 1 to 255 bytes of UTF-8 without control characters.
  std::string name{};

  /// What people read as the holder. Empty: "HOST:PID". Never decides ownership, so two processes
  /// may carry the same id and still only one leads. Same rules as `name`.
  std::string id{};

  /// How long a term outlives its last renewal. 100 ms to 24 h; the store may grant more or less.
  /// Small: a crash is noticed sooner, a pause (VM, disk) costs the term sooner. Large: the
  /// reverse.
  Duration ttl = std::chrono::seconds(15);

  /// How long before the deadline work is asked to stop, and how long a voluntary end waits for
  /// it. Unset: ttl / 5. Too short: work is cut off; it takes its length from the renewal budget.
  std::optional<Duration> grace{};

  /// Time between renewals. Unset: ttl / 3. Danger: longer leaves fewer tries before the end.
  std::optional<Duration> renew_interval{};

  /// Bound of every single request to the store. Unset: ttl / 5, at most 10 s. Danger: too short
  /// fails on a slow store, too long leaves no second try.
  std::optional<Duration> request_limit{};

  /// Largest difference in clock RATE between this host and the judge of expiry, 0 to 0.5. Spans
  /// that are derived from the ttl are shorter where this is above 1/15. Danger:
  /// a clock that is off by more can make two leaders (docs/guarantees.md).
  double drift = 0.01;

  /// First and largest wait after a failed request, spread over the whole range (full jitter).
  Duration retry_first = std::chrono::milliseconds(50);
  Duration retry_max = std::chrono::seconds(5);

  /// After a yield, stand again once another leads, or when this has passed and nobody does.
  Duration yield_pause = std::chrono::milliseconds(500);

  /// Give up (a Stopped event with its error) if not elected within this. Unset: never.
  std::optional<Duration> give_up_after{};

  /// What to do with work that outlasts its term.
  Overrun on_overrun = Overrun::lapse;

  /// How many unread events are kept, at least 8. Newer ones replace older ones of their kind;
  /// Elected and Lost are never dropped one without the other (see events.h).
  std::size_t event_capacity = 64;
};

/// The spans in force for one granted ttl. All of them scale with the ttl if the store grants less
/// than was asked.
struct Timing {
  Duration ttl{};
  Duration grace{};
  Duration renew_interval{};
  Duration request_limit{};
  double drift = 0;

  bool operator==(const Timing&) const = default;
};

/// Checks every field and every relation between fields; this is the one place where they are
/// known. invalid_argument names the field or the relation that failed, with the values, above all
///   renew_interval + 2 x request_limit <= ttl x (1 - drift) - grace
/// (two whole tries fit between the time a renewal is due and the step-down). Returns the timing
/// for a grant of exactly `ttl`. Pure; any thread.
[[nodiscard]] Result<Timing> validate(const ElectionOptions& options);

/// The timing for what the store really granted. Pure; any thread.
[[nodiscard]] Timing scale_to(const Timing& asked, Duration granted) noexcept;

}  // namespace tenure
