// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/options.h>

#include "core/rng.h"
#include "core/validity.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>

namespace tenure {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

ElectionOptions named() {
  ElectionOptions options;
  options.name = "billing";
  return options;
}

TEST(Options, DefaultsAreAcceptedAndDerivedFromTheTtl) {
  const Result<Timing> timing = validate(named());
  ASSERT_TRUE(timing) << timing.error().message;
  EXPECT_EQ(timing->ttl, seconds(15));
  EXPECT_EQ(timing->grace, seconds(3));
  EXPECT_EQ(timing->renew_interval, seconds(5));
  EXPECT_EQ(timing->request_limit, seconds(3));
  EXPECT_EQ(timing->drift, 0.01);
}

TEST(Options, ARequestIsNotWaitedForLongerThanTenSecondsUnlessThatIsAskedFor) {
  ElectionOptions options = named();
  options.ttl = hours(24);
  EXPECT_EQ(validate(options)->request_limit, seconds(10));
  options.request_limit = seconds(20);
  EXPECT_EQ(validate(options)->request_limit, seconds(20));
}

bool relation_holds(const Timing& timing) {
  const Instant until = core::valid_until(Instant{}, timing.ttl, timing.drift);
  return timing.renew_interval + 2 * timing.request_limit <=
         until.time_since_epoch() - timing.grace;
}

TEST(Options, DerivedSpansSatisfyTheRelationForEveryTtlAndDriftThatIsAccepted) {
  core::Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    ElectionOptions options = named();
    options.ttl = milliseconds(100 + rng.up_to(1U << (rng.up_to(26) + 1)));
    options.ttl = std::min<Duration>(options.ttl + nanoseconds(rng.up_to(999'999)), hours(24));
    options.drift = static_cast<double>(rng.up_to(5000)) / 10'000.0;
    const Result<Timing> timing = validate(options);
    ASSERT_TRUE(timing) << timing.error().message;
    ASSERT_TRUE(relation_holds(*timing)) << options.ttl.count() << " " << options.drift;
  }
}

TEST(Options, WhateverIsAcceptedSatisfiesTheRelation) {
  core::Rng rng(2);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    ElectionOptions options = named();
    const auto some = [&rng, &options] {
      return Duration(
          static_cast<Duration::rep>(rng.up_to(static_cast<std::uint64_t>(options.ttl.count()))));
    };
    options.drift = static_cast<double>(rng.up_to(5000)) / 10'000.0;
    if (rng.up_to(1) == 0) options.grace = some();
    if (rng.up_to(1) == 0) options.renew_interval = some();
    if (rng.up_to(1) == 0) options.request_limit = some();
    const Result<Timing> timing = validate(options);
    if (!timing) continue;
    ++accepted;
    ASSERT_TRUE(relation_holds(*timing));
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(accepted, 19'000);
}

TEST(Options, CK05_RelationIsRefusedAtTheFirstNanosecondTooMuchAndNamed) {
  ElectionOptions options = named();
  options.drift = 0;
  options.grace = seconds(3);
  options.request_limit = seconds(3);
  options.renew_interval = seconds(6);
  EXPECT_TRUE(validate(options));
  options.renew_interval = seconds(6) + nanoseconds(1);
  const Result<Timing> timing = validate(options);
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().code, Errc::invalid_argument);
  for (const char* part :
       {"renew_interval + 2 x request_limit <= ttl x (1 - drift) - grace", "2 x 3s", "15s"}) {
    EXPECT_NE(timing.error().message.find(part), std::string::npos) << timing.error().message;
  }
}

struct Wrong {
  const char* field;
  std::function<void(ElectionOptions&)> set;
};

class CK05_UnsafeTimingIsRefused : public testing::TestWithParam<Wrong> {};

TEST_P(CK05_UnsafeTimingIsRefused, WithTheFieldNamed) {
  ElectionOptions options = named();
  GetParam().set(options);
  const Result<Timing> timing = validate(options);
  ASSERT_FALSE(timing);
  EXPECT_EQ(timing.error().code, Errc::invalid_argument);
  EXPECT_NE(timing.error().message.find(GetParam().field), std::string::npos)
      << timing.error().message;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Options, CK05_UnsafeTimingIsRefused,
    testing::Values(Wrong{"name", [](auto& o) { o.name = ""; }},
                    Wrong{"name", [](auto& o) { o.name = "a\nb"; }},
                    Wrong{"id", [](auto& o) { o.id = std::string(256, 'x'); }},
                    Wrong{"ttl", [](auto& o) { o.ttl = Duration::zero(); }},
                    Wrong{"ttl", [](auto& o) { o.ttl = nanoseconds(1); }},
                    Wrong{"ttl", [](auto& o) { o.ttl = seconds(-15); }},
                    Wrong{"ttl", [](auto& o) { o.ttl = milliseconds(100) - nanoseconds(1); }},
                    Wrong{"ttl", [](auto& o) { o.ttl = hours(24) + nanoseconds(1); }},
                    Wrong{"ttl", [](auto& o) { o.ttl = kForever; }},
                    Wrong{"ttl", [](auto& o) { o.ttl = Duration::min(); }},
                    Wrong{"drift", [](auto& o) { o.drift = -0.01; }},
                    Wrong{"drift", [](auto& o) { o.drift = 0.51; }},
                    Wrong{"drift", [](auto& o) { o.drift = kNan; }},
                    Wrong{"drift", [](auto& o) { o.drift = kInfinity; }},
                    Wrong{"grace", [](auto& o) { o.grace = seconds(-1); }},
                    Wrong{"grace", [](auto& o) { o.grace = seconds(16); }},
                    Wrong{"grace", [](auto& o) { o.grace = kForever; }},
                    Wrong{"renew_interval", [](auto& o) { o.renew_interval = Duration::zero(); }},
                    Wrong{"renew_interval", [](auto& o) { o.renew_interval = seconds(-1); }},
                    Wrong{"renew_interval", [](auto& o) { o.renew_interval = kForever; }},
                    Wrong{"request_limit", [](auto& o) { o.request_limit = Duration::zero(); }},
                    Wrong{"request_limit", [](auto& o) { o.request_limit = Duration::min(); }},
                    Wrong{"request_limit", [](auto& o) { o.request_limit = kForever; }},
                    Wrong{"grace", [](auto& o) { o.grace = seconds(15); }},
                    Wrong{"retry_first", [](auto& o) { o.retry_first = Duration::zero(); }},
                    Wrong{"retry_max", [](auto& o) { o.retry_max = milliseconds(49); }},
                    Wrong{"retry_max", [](auto& o) { o.retry_max = kForever; }},
                    Wrong{"yield_pause", [](auto& o) { o.yield_pause = seconds(-1); }},
                    Wrong{"yield_pause", [](auto& o) { o.yield_pause = kForever; }},
                    Wrong{"give_up_after", [](auto& o) { o.give_up_after = nanoseconds(-1); }},
                    Wrong{"event_capacity", [](auto& o) { o.event_capacity = 7; }},
                    Wrong{"event_capacity", [](auto& o) { o.event_capacity = 0; }}));

TEST(Options, EdgesThatAreAllowedAreAccepted) {
  for (const auto& set : std::vector<std::function<void(ElectionOptions&)>>{
           [](auto& o) { o.ttl = milliseconds(100); }, [](auto& o) { o.ttl = hours(24); },
           [](auto& o) { o.drift = 0; }, [](auto& o) { o.drift = 0.5; },
           [](auto& o) { o.grace = Duration::zero(); },
           [](auto& o) { o.renew_interval = milliseconds(1); },
           [](auto& o) { o.request_limit = milliseconds(1); },
           [](auto& o) { o.retry_first = o.retry_max = milliseconds(1); },
           [](auto& o) { o.yield_pause = Duration::zero(); },
           [](auto& o) { o.give_up_after = Duration::zero(); },
           [](auto& o) { o.give_up_after = kForever; }, [](auto& o) { o.event_capacity = 8; }}) {
    ElectionOptions options = named();
    set(options);
    const Result<Timing> timing = validate(options);
    EXPECT_TRUE(timing) << timing.error().message;
  }
}

TEST(Scale, GrantOfWhatWasAskedChangesNothing) {
  const Timing asked = *validate(named());
  EXPECT_EQ(scale_to(asked, asked.ttl), asked);
}

TEST(Scale, GrantOfLessScalesEverySpan) {
  const Timing scaled = scale_to(*validate(named()), milliseconds(1500));
  EXPECT_EQ(scaled.ttl, milliseconds(1500));
  EXPECT_EQ(scaled.grace, milliseconds(300));
  EXPECT_EQ(scaled.renew_interval, milliseconds(500));
  EXPECT_EQ(scaled.request_limit, milliseconds(300));
  EXPECT_TRUE(relation_holds(scaled));
}

TEST(Scale, GrantOfMoreChangesTheTtlAlone) {
  const Timing asked = *validate(named());
  for (const Duration granted : {Duration(seconds(60)), kForever}) {
    const Timing scaled = scale_to(asked, granted);
    EXPECT_EQ(scaled.ttl, granted);
    EXPECT_EQ(scaled.grace, asked.grace);
    EXPECT_EQ(scaled.renew_interval, asked.renew_interval);
    EXPECT_EQ(scaled.request_limit, asked.request_limit);
  }
}

TEST(Scale, GrantOfNothingLeavesAPauseBetweenRequestsAndTimeForOne) {
  const Timing asked = *validate(named());
  for (const Duration granted : {Duration::zero(), Duration(1), Duration(-1), Duration::min()}) {
    const Timing scaled = scale_to(asked, granted);
    EXPECT_EQ(scaled.ttl, std::max(granted, Duration::zero()));
    EXPECT_GE(scaled.renew_interval, milliseconds(1));
    EXPECT_GE(scaled.request_limit, milliseconds(1));
    EXPECT_GE(scaled.grace, Duration::zero());
  }
}

}  // namespace
}  // namespace tenure
