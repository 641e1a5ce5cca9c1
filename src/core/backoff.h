// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rng.h"

#include <tenure/time.h>

#include <cstdint>

/// How long to stand back before the next try. Two shapes, because they answer two questions:
/// steps say how much of a writer lease to grant to a rival, full jitter keeps many candidates that
/// failed together from trying again together. Same seed, same waits, on every platform.
namespace tenure::core {

/// A wait that grows in steps: step 0 is exactly `first`; each further step is the one before it,
/// lengthened by up to `jitter` of itself, times `factor`. Never above `limit`; a step past `steps`
/// is `limit` itself.
struct StepBackoff {
  Duration first = std::chrono::milliseconds(20);
  double factor = 4.0;
  double jitter = 0.5;
  std::uint32_t steps = 5;
  Duration limit = kForever;

  [[nodiscard]] Duration at(std::uint32_t step, Rng& rng) const noexcept;
};

/// A wait drawn uniformly from [0, min(cap, initial x 2^attempt)], but not below `floor` (and then
/// not above it either, where the floor is higher than the whole range).
struct FullJitterBackoff {
  Duration initial = std::chrono::milliseconds(100);
  Duration cap = std::chrono::seconds(5);
  Duration floor = std::chrono::milliseconds(10);

  [[nodiscard]] Duration at(std::uint32_t attempt, Rng& rng) const noexcept;
};

}  // namespace tenure::core
