// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writers/experiment.h"
#include "writers/world.h"

#include <gtest/gtest.h>

namespace tenure::sim {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::uint64_t accepted(const WritersRound& round) { return round.writes - round.conflicts; }

struct Agreeing {
  std::size_t writers;
  std::size_t keys;
  Duration round;
};

class AgreeingWriters : public testing::TestWithParam<Agreeing> {};

// Whether changes come more often than the lease lasts or not, and with a single key too.
TEST_P(AgreeingWriters, OnceSettledAChangeCostsAtMostOnePointTwoWritesAKey) {
  const auto [writers, keys, length] = GetParam();
  const WritersOptions options{.writers = writers, .keys = keys, .round = length};
  const WritersReport report = simulate(options);
  ASSERT_EQ(report.settled.size(), 5U);
  for (const WritersRound& round : report.settled) {
    EXPECT_LE(static_cast<double>(round.writes), 1.2 * static_cast<double>(keys));
    EXPECT_GE(round.writes, keys);
    EXPECT_LT(round.converged, seconds(1));
  }
  EXPECT_LE(report.settling.writes, report.settling_rounds * keys + 2 * writers)
      << "the cost of settling";
  EXPECT_LE(report.settling_rounds, 4U);
  EXPECT_EQ(report.leaders, 1U);
  EXPECT_TRUE(report.all_as_wanted);
}

INSTANTIATE_TEST_SUITE_P(
    OneToAThousand, AgreeingWriters,
    testing::Values(Agreeing{1, 20, seconds(20)}, Agreeing{2, 20, seconds(120)},
                    Agreeing{3, 20, seconds(20)}, Agreeing{10, 20, seconds(120)},
                    Agreeing{100, 20, seconds(20)}, Agreeing{100, 20, seconds(120)},
                    Agreeing{1000, 20, seconds(120)}, Agreeing{1, 1, seconds(20)},
                    Agreeing{2, 1, seconds(120)}, Agreeing{10, 1, seconds(20)},
                    Agreeing{100, 1, seconds(120)}, Agreeing{1000, 1, seconds(20)},
                    Agreeing{1000, 1, seconds(120)}));

// What the rule for `first_backoff` is for: with less, followers write before they can know.
TEST(AgreeingWritersTest, AHeadStartShorterThanTheTimeToSeeAWriteCostsAWriteAWriter) {
  WritersOptions options{.writers = 100, .keys = 1, .round = seconds(120)};
  options.first_backoff = milliseconds(20);
  EXPECT_GT(simulate(options).settled.back().writes, 10U);
}

class DisagreeingWriters : public testing::TestWithParam<std::size_t> {};

// 8 x `rewrites` and what was on its way: after a week as after five years, and in slow fights too.
TEST_P(DisagreeingWriters, RT05_WritesAreBoundedByKeysNotByTimeNorByWriters) {
  constexpr std::uint64_t kKeys = 3;
  for (const Duration late : {Duration(milliseconds(50)), Duration(seconds(20))}) {
    WritersOptions options{
        .writers = GetParam(), .keys = kKeys, .opinions = GetParam(), .rounds = 0};
    options.retry_interval = hours(1);
    options.watch_delay = late;
    for (const Duration length : {Duration(hours(24 * 7)), Duration(hours(24 * 365 * 5))}) {
      options.round = length;
      const WritersRound all = simulate(options).settling;
      EXPECT_GE(accepted(all), 5 * kKeys);
      EXPECT_LE(accepted(all), 45 * kKeys);
      EXPECT_LE(all.conflicts, 5 * GetParam() * kKeys) << "refused ones: a few a writer";
      if (GetParam() >= 10) break;  // 5 years of them take the test too long
    }
  }
}

INSTANTIATE_TEST_SUITE_P(TwoToAThousand, DisagreeingWriters, testing::Values(2, 3, 10, 100, 1000));

TEST(DisagreeingWritersTest, WithoutAGuardTheyWriteForEver) {
  WritersOptions options{.writers = 3, .keys = 10, .opinions = 3, .rounds = 0};
  options.guarded = false;
  options.round = std::chrono::minutes(10);
  EXPECT_GT(accepted(simulate(options).settling), 1000U * 10);
}

// The conflict is removed: all want the same again, and it comes to be.
TEST(DisagreeingWritersTest, RT05_OnceTheyAgreeAChangeConverges) {
  WritersOptions options{.writers = 5, .keys = 10, .opinions = 3, .rounds = 3};
  options.agree_from_round = 2;
  const WritersReport report = simulate(options);
  EXPECT_TRUE(report.all_as_wanted);
  EXPECT_LT(report.settled.back().converged, kForever);
}

TEST(Writers, SameSeedGivesTheSameReport) {
  const WritersOptions options{.writers = 30, .keys = 10, .seed = 7};
  const WritersReport one = simulate(options);
  const WritersReport two = simulate(options);
  EXPECT_EQ(one.settling.writes, two.settling.writes);
  EXPECT_EQ(one.settling.converged, two.settling.converged);
  EXPECT_EQ(one.settled.back().converged, two.settled.back().converged);
}

TEST(Experiment, DrawsAPictureWithALineForEachQuestion) {
  const ExperimentOptions options{.most_writers = 3, .keys = 3, .rounds = 2, .seed = 1};
  std::string table = table_head();
  const auto rows =
      run_experiment(options, [&](const ExperimentRow& row) { table += table_line(row); });
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_NE(table.find("      3 |"), std::string::npos);
  EXPECT_EQ(table.find("never"), std::string::npos);
  EXPECT_NE(table_legend().find("!     : not all"), std::string::npos);
  const std::string svg = picture(options, rows);
  EXPECT_EQ(svg.find("<svg"), 0U);
  EXPECT_NE(svg.find("each change, agreeing"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

TEST(Experiment, SaysNeverWhereItDidNotComeOutAsWanted) {
  ExperimentRow row;
  row.writers = 2;
  row.settled_converged = kForever;
  EXPECT_NE(table_line(row).find("    never !"), std::string::npos) << table_line(row);
  row.settled_converged = seconds(2);
  row.agreed = true;
  EXPECT_EQ(table_line(row).find('!'), std::string::npos);
  EXPECT_NE(table_line(row).find("  2000 ms"), std::string::npos);
}

}  // namespace
}  // namespace tenure::sim
