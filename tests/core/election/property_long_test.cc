// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/property_run.h"

namespace tenure::core {
namespace {

TEST(ElectionWorldLong, TwoNeverLeadInManyWorlds) { run_worlds(1'000'000, 5'000); }

}  // namespace
}  // namespace tenure::core
