// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/machine_world.h"

#include <functional>

/// A stop that races with an election: it comes between any two inputs of a run, and whatever was
/// under way then arrives after it.
namespace tenure::core {
namespace {

using Input = std::function<void(MachineWorld&)>;

/// Three terms: one taken over, one that starved, one that yielded; and the way to each.
std::vector<Input> run_of_three_terms() {
  return {
      [](MachineWorld& w) { w.start(); },
      [](MachineWorld& w) { w.sees(record_of("B", 5), 5); },
      [](MachineWorld& w) { w.held_by("B", 5); },
      [](MachineWorld& w) { w.sees(std::nullopt, 6); },
      [](MachineWorld& w) { w.granted(7); },
      [](MachineWorld& w) { w.sees(w.ours(7), 7); },
      [](MachineWorld& w) { w.run_for(seconds(5)); },
      [](MachineWorld& w) { w.renewed(); },
      [](MachineWorld& w) { w.sees(record_of("C", 9), 9); },
      [](MachineWorld& w) { w.work_ended(); },
      [](MachineWorld& w) { w.held_by("C", 9); },
      [](MachineWorld& w) { w.sees(std::nullopt, 10); },
      [](MachineWorld& w) { w.acquire_fails(Errc::outcome_unknown); },
      [](MachineWorld& w) { w.run_for(milliseconds(100)); },
      [](MachineWorld& w) { w.granted(11); },
      [](MachineWorld& w) { w.renewed(); },
      [](MachineWorld& w) { w.run_for(seconds(5)); },
      [](MachineWorld& w) { w.renew_fails(Errc::unavailable); },
      [](MachineWorld& w) { w.run_for(seconds(13)); },
      [](MachineWorld& w) { w.run_for(seconds(3)); },
      [](MachineWorld& w) { w.work_ended(); },
      [](MachineWorld& w) { w.released(false); },
      [](MachineWorld& w) { w.run_for(seconds(6)); },
      [](MachineWorld& w) { w.granted(13); },
      [](MachineWorld& w) { w.renewed(); },
      [](MachineWorld& w) { w.yield(); },
      [](MachineWorld& w) { w.work_ended(); },
      [](MachineWorld& w) { w.released(); },
      [](MachineWorld& w) { w.sees(std::nullopt, 14); },
  };
}

TEST(StopRace, TheRunWithoutAStopHasItsThreeTerms) {
  MachineWorld w(with_work());
  for (const Input& input : run_of_three_terms()) input(w);
  EXPECT_EQ(w.judge.terms(), 3);
  EXPECT_EQ(w.losses(), "taken_over expired yielded");
  EXPECT_EQ(w.phase(), Phase::pausing);
}

TEST(StopRace, EV04_StopAfterAnyInputBeginsNothingAndEndsWhatHadBegunOnce) {
  const std::vector<Input> run = run_of_three_terms();
  for (std::size_t before = 0; before <= run.size(); ++before) {
    SCOPED_TRACE("stopped after " + std::to_string(before) + " inputs");
    MachineWorld w(with_work());
    for (std::size_t i = 0; i < before; ++i) run[i](w);
    const int begun = w.count<BeginTerm>();
    const Instant limit = w.now + seconds(60);
    w.stop(seconds(60));
    EXPECT_FALSE(w.judge.in_term()) << "Lost is told at the stop, not after it";
    EXPECT_EQ(w.count<EndTerm>(), begun);
    // What was under way, and what else may come.
    for (std::size_t i = before; i < run.size(); ++i) run[i](w);
    w.work_ended();
    w.run_to(limit);
    EXPECT_EQ(w.phase(), Phase::stopped);
    EXPECT_EQ(w.count<BeginTerm>(), begun) << "stopping starts nothing";
    EXPECT_EQ(w.count<EndTerm>(), begun) << "each Elected has its one Lost";
    EXPECT_EQ(w.count<Finish>(), 1);
    EXPECT_EQ(w.judge.faults(), "");
  }
}

}  // namespace
}  // namespace tenure::core
