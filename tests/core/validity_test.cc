// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/validity.h"

#include "core/rng.h"

#include <gtest/gtest.h>

namespace tenure::core {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kSent = Instant(hours(1));

TEST(Validity, WithoutDriftAGrantLastsExactlyItsTtlFromTheSending) {
  EXPECT_EQ(valid_until(kSent, seconds(15), 0), kSent + seconds(15));
}

TEST(Validity, DriftShortensTheHoldersSideAndNeverByLessThanItsShare) {
  const Instant until = valid_until(kSent, seconds(15), 0.01);
  EXPECT_LE(until, kSent + milliseconds(14'850));
  EXPECT_GE(until, kSent + milliseconds(14'850) - Duration(2));
}

TEST(Validity, DriftLengthensTheObserversSideAndNeverByLessThanItsShare) {
  const Instant ended = surely_ended(kSent, seconds(15), 0.01);
  EXPECT_GE(ended, kSent + milliseconds(15'150));
  EXPECT_LE(ended, kSent + milliseconds(15'150) + Duration(2));
}

TEST(Validity, HolderStopsBeforeTheObserverJudgesForAnyTtlAndDrift) {
  Rng rng(1);
  for (int i = 0; i < 100'000; ++i) {
    const Duration ttl(static_cast<Duration::rep>((rng.next() >> (rng.up_to(61) + 2)) + 1));
    const double drift = static_cast<double>(rng.up_to(1000)) / 2000.0;
    const Instant until = valid_until(kSent, ttl, drift);
    const Instant ended = surely_ended(kSent, ttl, drift);
    ASSERT_LT(until, ended) << ttl.count() << " " << drift;
    ASSERT_LE(until, saturating_add(kSent, ttl));
    ASSERT_GE(until, kSent);
  }
}

TEST(Validity, RoundingOfALongTtlNeverLengthensIt) {
  // 2^53 + 1 is not a double: the share of the drift is rounded down by up to one.
  const Duration ttl((1LL << 53) + 1);
  EXPECT_LE(valid_until(kSent, ttl, 1e-18), kSent + ttl - Duration(1));
}

TEST(Validity, GrantOfNothingIsNeverValid) {
  EXPECT_EQ(valid_until(kSent, Duration::zero(), 0.01), kLongAgo);
  EXPECT_EQ(valid_until(kSent, seconds(-5), 0.01), kLongAgo);
  EXPECT_EQ(valid_until(kSent, Duration::min(), 0), kLongAgo);
}

TEST(Validity, RecordOfNothingHasEndedAtOnce) {
  EXPECT_LE(surely_ended(kSent, Duration::zero(), 0.5), kSent + Duration(1));
  EXPECT_LE(surely_ended(kSent, Duration::min(), 0.5), kSent + Duration(1));
}

TEST(Validity, EndlessTtlSaturates) {
  EXPECT_EQ(valid_until(kSent, kForever, 0), kNever);
  EXPECT_GT(valid_until(kSent, kForever, 0.5), kSent + hours(24 * 365 * 100));
  EXPECT_EQ(surely_ended(kSent, kForever, 0.5), kNever);
  EXPECT_EQ(valid_until(kLongAgo, seconds(15), 0), kLongAgo);
  EXPECT_EQ(surely_ended(kNever, seconds(15), 0), kNever);
}

TEST(Validity, WholeDriftTrustsNothing) { EXPECT_EQ(valid_until(kSent, seconds(15), 1.0), kSent); }

TEST(Grid, InstantIsTheLastOnTheGridThatIsNotLate) {
  const Duration step = seconds(5);
  EXPECT_EQ(on_grid(Instant(seconds(12)), Instant(seconds(17)), step, {}), Instant(seconds(15)));
  EXPECT_EQ(on_grid(Instant(seconds(12)), Instant(seconds(15)), step, {}), Instant(seconds(15)));
  EXPECT_EQ(on_grid(Instant(seconds(12)), Instant(seconds(17)), step, seconds(1)),
            Instant(seconds(16)));
  EXPECT_EQ(on_grid(Instant(seconds(12)), Instant(seconds(17)), step, seconds(-4)),
            Instant(seconds(16)));
}

TEST(Grid, InstantIsNeverBeforeTheEarliest) {
  EXPECT_EQ(on_grid(Instant(seconds(16)), Instant(seconds(19)), seconds(5), {}),
            Instant(seconds(16)));
}

TEST(Grid, InstantIsWithinItsBoundsForAnyNumbers) {
  Rng rng(2);
  for (int i = 0; i < 100'000; ++i) {
    const auto any = [&rng] { return static_cast<Duration::rep>(rng.next() >> rng.up_to(63)); };
    Instant a{Duration(any())};
    Instant b{Duration(any())};
    if (b < a) std::swap(a, b);
    const Duration step(any());
    const Duration phase(static_cast<Duration::rep>(rng.next() >> 2U));
    const Instant when = on_grid(a, b, step, phase);
    ASSERT_LE(a, when);
    ASSERT_LE(when, b);
  }
}

TEST(Grid, NoStepAndNoEndGiveTheLatest) {
  EXPECT_EQ(on_grid(kSent, kSent + seconds(3), Duration::zero(), {}), kSent + seconds(3));
  EXPECT_EQ(on_grid(kSent, kSent + seconds(3), seconds(-1), {}), kSent + seconds(3));
  EXPECT_EQ(on_grid(kSent, kNever, seconds(5), {}), kNever);
  EXPECT_EQ(on_grid(kLongAgo, kLongAgo, seconds(5), {}), kLongAgo);
}

}  // namespace
}  // namespace tenure::core
