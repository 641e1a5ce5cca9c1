// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writers/experiment.h"
#include "writers/world.h"

#include <gtest/gtest.h>

namespace tenure::sim {
namespace {

std::uint64_t accepted(const WritersRound& round) { return round.writes - round.conflicts; }

class AgreeingWriters : public testing::TestWithParam<std::size_t> {};

TEST_P(AgreeingWriters, OnceSettledAChangeCostsAtMostOnePointTwoWritesAKey) {
  const WritersOptions options{.writers = GetParam(), .keys = 20};
  const WritersReport report = simulate(options);
  for (const WritersRound& round : report.settled) {
    EXPECT_LE(static_cast<double>(round.writes), 1.2 * 20);
    EXPECT_GE(round.writes, 20U);
    EXPECT_LT(round.converged, std::chrono::seconds(1));
  }
  EXPECT_LE(report.settling.writes, 20 + 2 * GetParam()) << "the cost of settling";
  EXPECT_EQ(report.leaders, 1U);
  EXPECT_TRUE(report.all_as_wanted);
}

INSTANTIATE_TEST_SUITE_P(OneToAThousand, AgreeingWriters, testing::Values(1, 2, 3, 10, 100, 1000));

class DisagreeingWriters : public testing::TestWithParam<std::size_t> {};

TEST_P(DisagreeingWriters, RT05_WritesAreBoundedByKeysNotByTimeNorByWriters) {
  WritersOptions options{.writers = GetParam(), .keys = 10, .opinions = GetParam(), .rounds = 0};
  options.retry_interval = std::chrono::minutes(1);
  options.round = std::chrono::minutes(10);
  const std::uint64_t brief = accepted(simulate(options).settling);
  options.round = std::chrono::minutes(100);
  const std::uint64_t tenfold = accepted(simulate(options).settling);
  options.round = std::chrono::minutes(1000);
  const std::uint64_t hundredfold = accepted(simulate(options).settling);
  EXPECT_LE(brief, 20U * 10);
  EXPECT_LE(hundredfold, 40U * 10);
  // Each tenfold costs a few tries more, not ten times as many.
  EXPECT_LE(hundredfold - tenfold, 20U * 10);
}

INSTANTIATE_TEST_SUITE_P(TwoToAHundred, DisagreeingWriters, testing::Values(2, 3, 10, 100));

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
  const std::string svg = picture(options, rows);
  EXPECT_EQ(svg.find("<svg"), 0U);
  EXPECT_NE(svg.find("each change, agreeing"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace tenure::sim
