// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Five candidates on one database, and whatever can happen to processes. The seed is printed;
// TENURE_CHAOS_SEED repeats a run's choices.
#include "tests/cli/harness.h"

#include "core/rng.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/random.h>

namespace tenure::test {
namespace {

constexpr std::size_t kCandidates = 5;
constexpr int kRounds = 200;

std::uint64_t seed_of_this_run() {
  if (const char* given = std::getenv("TENURE_CHAOS_SEED")) {
    return std::strtoull(given, nullptr, 10);
  }
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) std::abort();
  return seed;
}

class Chaos : public testing::Test {
 protected:
  void start(std::size_t i) {
    // Every second command is one that must be killed, with a daemon that must be found.
    const std::vector<std::string> flags =
        i % 2 == 0 ? std::vector<std::string>{}
                   : std::vector<std::string>{"--ignore-term", "--daemon"};
    candidates_.at(i) = bench_.start("run", "2s", bench_.worker(flags),
                                     {"--id", "c" + std::to_string(i)}, {.blocked = true});
  }

  // The candidate whose command began last, or any.
  std::size_t leader() const {
    const std::string mark = bench_.last("holder");
    return mark.empty() ? 0 : static_cast<std::size_t>(mark.back() - '0') % kCandidates;
  }

  // What a person needs to see of an overlap: the last marks, and what each candidate said.
  std::string story() const {
    std::string text;
    const std::vector<std::string> marks = bench_.marks();
    for (std::size_t i = marks.size() - std::min<std::size_t>(marks.size(), 40);
         i < marks.size();) {
      text += marks[i++] + "\n";
    }
    for (const auto& candidate : candidates_) {
      const std::string said = candidate->err();
      text += "pid " + std::to_string(candidate->pid()) + ":\n";
      text += said.substr(said.size() - std::min<std::size_t>(said.size(), 1500)) + "\n";
    }
    return text;
  }

  Bench bench_;
  std::array<std::unique_ptr<Process>, kCandidates> candidates_;
};

TEST_F(Chaos, OneCommandAtATimeAndTokensGrowOver200Rounds) {
  const std::uint64_t seed = seed_of_this_run();
  std::cout << "seed " << seed << std::endl;
  RecordProperty("seed", std::to_string(seed));
  core::Rng rng(seed);
  const auto pick = [&rng](std::uint64_t count) { return rng.up_to(count - 1); };
  for (std::size_t i = 0; i < kCandidates; ++i) start(i);
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t begun = bench_.count("begin");
    // Half of the time the leader, whose end is what matters; else any.
    const std::size_t victim = pick(2) == 0 ? leader() : pick(kCandidates);
    Process& process = *candidates_.at(victim);
    switch (pick(4)) {
      case 0:
        process.send(SIGKILL);
        ASSERT_TRUE(process.wait());
        start(victim);
        break;
      case 1:
        process.send(SIGTERM);
        ASSERT_TRUE(process.wait()) << process.err();
        start(victim);
        break;
      case 2: {
        process.send(SIGSTOP);
        // maybe: shorter or longer than the ttl, so that the term is kept or lost.
        const Duration pause = std::chrono::milliseconds(pick(3000));
        (void)eventually([&] { return bench_.count("begin") > begun; }, pause);
        process.send(SIGCONT);
        break;
      }
      default:
        process.send(SIGUSR1);
    }
    ASSERT_EQ(bench_.count("overlap"), 0U) << "round " << round << ", seed " << seed << "\n"
                                           << story();
    if (pick(3) == 0) {
      ASSERT_TRUE(eventually([&] { return bench_.worker_lives(); }))
          << "nobody leads any more: round " << round << ", seed " << seed;
    }
  }
  ASSERT_TRUE(eventually([&] { return bench_.worker_lives(); })) << "seed " << seed;
  for (auto& candidate : candidates_) candidate->send(SIGTERM);
  for (auto& candidate : candidates_)
    EXPECT_EQ(candidate->wait(), 128 + SIGTERM) << candidate->err();
  // maybe: the last round killed a leader, and its guardian is still killing.
  EXPECT_TRUE(eventually([&] { return !bench_.worker_lives(); })) << "seed " << seed;

  EXPECT_EQ(bench_.count("overlap"), 0U) << "seed " << seed;
  unsigned long long token = 0;
  for (const std::string& mark : bench_.marks()) {
    if (!mark.starts_with("begin ")) continue;
    std::istringstream words(mark.substr(6));
    unsigned long long next = 0;
    ASSERT_TRUE(words >> next) << mark;
    EXPECT_GT(next, token) << mark << ", seed " << seed;
    token = next;
  }
  EXPECT_GT(bench_.count("begin"), 20U) << "too little happened to mean anything";
}

}  // namespace
}  // namespace tenure::test
