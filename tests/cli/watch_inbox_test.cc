// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_inbox.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace tenure::cli {
namespace {

ElectionState state_of(const std::string& election, std::uint64_t as_of) {
  ElectionState state;
  state.election = election;
  state.as_of = as_of;
  return state;
}

bool rings(const WatchInbox& inbox) {
  pollfd ready{inbox.bell(), POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

TEST(WatchInbox, GivesWhatWasPutInOrderAndRingsUntilItIsTaken) {
  WatchInbox inbox;
  EXPECT_FALSE(rings(inbox));
  inbox.put(state_of("a", 1));
  inbox.put(fail(Errc::unavailable, "gone"));
  inbox.put(state_of("a", 2));
  EXPECT_TRUE(rings(inbox));
  const auto taken = inbox.take();
  ASSERT_EQ(taken.size(), 3U);
  EXPECT_EQ(taken[0]->as_of, 1U);
  EXPECT_EQ(taken[1].error().code, Errc::unavailable);
  EXPECT_EQ(taken[2]->as_of, 2U);
  EXPECT_FALSE(rings(inbox));
  EXPECT_TRUE(inbox.take().empty());
}

TEST(WatchInbox, AReaderWhoStallsCostsBoundedMemoryAndMissesNoLastState) {
  WatchInbox inbox;
  inbox.put(state_of("quiet", 1));
  for (std::uint64_t i = 2; i < 50'000; ++i) {
    inbox.put(state_of("busy", i));
    if (i % 100 == 0) inbox.put(fail(Errc::unavailable, "gone"));
  }
  const auto taken = inbox.take();
  EXPECT_EQ(taken.size(), WatchInbox::kMostStates);
  EXPECT_EQ(taken.front()->election, "quiet");
  EXPECT_EQ(taken.back()->as_of, 49'999U);
}

TEST(WatchInbox, ElectionsBeyondTheBoundAreNotForgotten) {
  WatchInbox inbox;
  const std::size_t count = WatchInbox::kMostStates + 10;
  for (std::size_t i = 0; i < count; ++i) inbox.put(state_of(std::to_string(i), i));
  EXPECT_EQ(inbox.take().size(), count);
}

TEST(WatchInbox, AListIsSeenWholeAndItsErrorIsOneOfTheWatch) {
  WatchInbox inbox;
  inbox.put_list(fail(Errc::unavailable, "gone"));
  EXPECT_FALSE(inbox.is_listed());
  EXPECT_EQ(inbox.take().front().error().code, Errc::unavailable);
  inbox.put_list(std::vector{state_of("a", 1), state_of("b", 2)});
  EXPECT_TRUE(inbox.is_listed());
  EXPECT_TRUE(rings(inbox));
  EXPECT_EQ(inbox.listed_names(), (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace tenure::cli
