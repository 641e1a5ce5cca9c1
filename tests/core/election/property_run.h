// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/core/election/little_world.h"

#include <gtest/gtest.h>

namespace tenure::core {

inline LittleWorld::Setup world_of(std::uint64_t seed) {
  LittleWorld::Setup setup;
  setup.seed = seed;
  setup.expiry = seed % 2 == 0 ? ExpiryBy::store : ExpiryBy::observers;
  setup.tracks_work = seed % 3 != 0;
  return setup;
}

/// Runs the worlds of seeds [first, first + count): none may break a promise.
inline void run_worlds(std::uint64_t first, std::uint64_t count) {
  int terms = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    LittleWorld world(world_of(seed));
    world.run();
    ASSERT_EQ(world.faults, "") << "seed " << seed;
    terms += world.terms;
  }
  EXPECT_GT(terms, static_cast<int>(count) * 5) << "worlds in which nothing happens prove nothing";
}

}  // namespace tenure::core
