// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user's test might be: needs tenure::testkit and nothing else.
#include <tenure/testkit/manual_clock.h>

int main() {
  tenure::testkit::ManualClock clock;
  const tenure::Instant start = clock.now();
  clock.advance(std::chrono::seconds(5));
  return clock.now() - start == std::chrono::seconds(5) ? 0 : 1;
}
