// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

/// Validity: how long a grant may be trusted, seen from either side (design rules 4.2 and 4.3).
namespace tenure::core {

/// The holder's side: the instant from which it must not act, for a grant of `ttl` that was bought
/// by a request sent at `sent_at`. Counted from before sending, shortened by the drift.
[[nodiscard]] Instant valid_until(Instant sent_at, Duration ttl, double drift) noexcept;

/// The observer's side: the instant from which a record of `ttl`, last seen to change at `seen_at`,
/// has surely ended. Lengthened by the drift.
[[nodiscard]] Instant surely_ended(Instant seen_at, Duration ttl, double drift) noexcept;

/// The last instant not after `latest` that lies on the grid of `step` shifted by `phase`, but
/// never earlier than `earliest`. Renewals on one grid share one request to the store.
[[nodiscard]] Instant on_grid(Instant earliest, Instant latest, Duration step,
                              Duration phase) noexcept;

}  // namespace tenure::core
