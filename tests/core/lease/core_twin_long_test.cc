// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core_twin_run.h"

#include <gtest/gtest.h>

namespace tenure::core {
namespace {

TEST(LeaseCoreLong, AgreesWithItsNaiveTwinOverTwentyMillionRandomInputs) {
  for (std::uint64_t seed = 1000; seed < 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    TwinRun(seed).run(10'000);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tenure::core
