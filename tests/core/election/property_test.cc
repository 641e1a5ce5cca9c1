// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/property_run.h"

#include <cstdlib>
#include <string>

namespace tenure::core {
namespace {

TEST(ElectionWorld, TwoNeverLeadAndSomebodyLeadsOnceTheFaultsStop) { run_worlds(1, 150); }

// One world again: TENURE_WORLD_SEED=17 runs that seed alone.
TEST(ElectionWorld, SeedOfTheEnvironmentRunsAlone) {
  const char* seed = std::getenv("TENURE_WORLD_SEED");
  LittleWorld world(world_of(seed != nullptr ? std::stoull(seed) : 1));
  world.run();
  EXPECT_EQ(world.faults, "");
}

TEST(ElectionWorld, SameSeedGivesTheSameWorld) {
  LittleWorld one(world_of(4));
  LittleWorld two(world_of(4));
  one.run();
  two.run();
  EXPECT_EQ(one.terms, two.terms);
  EXPECT_EQ(one.faults, two.faults);
}

// The control: with clocks that are off by more than the drift allows the world does find it.
TEST(ElectionWorld, ClocksBeyondTheDriftMakeTwoLeaders) {
  int worlds = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    LittleWorld::Setup setup = world_of(seed);
    setup.drift = 0.01;
    setup.most_ppm = 300'000;
    LittleWorld world(setup);
    world.run();
    worlds += world.two_leaders > 0 ? 1 : 0;
  }
  EXPECT_GE(worlds, 5);
}

}  // namespace
}  // namespace tenure::core
