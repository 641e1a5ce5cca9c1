// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The ring by itself: what producers put there comes out whole, and is waited for asleep.
#include "runtime/writer_lease_inbox.h"

#include "tests/support/eventually.h"
#include "tests/support/threads.h"
#include "writer_lease_make.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenure::test {
namespace {

// A capture that stops the thread that moves it for the last time.
struct StopsWhenMoved {
  StopsWhenMoved(int moves_left, std::latch& is_there, std::latch& go_on)
      : moves(moves_left), there(&is_there), on(&go_on) {}
  StopsWhenMoved(StopsWhenMoved&& other) noexcept
      : moves(other.moves - 1), there(other.there), on(other.on) {
    if (moves != 0) return;
    there->count_down();
    on->wait();
  }
  WorkResult operator()() { return extend(); }
  int moves;
  std::latch* there;
  std::latch* on;
};

TEST(LeaseInbox, WaitsAsleepForAProducerThatIsHalfWay) {
  runtime::LeaseInbox inbox;
  std::latch half_way(1);
  std::latch go_on(1);
  std::thread producer([&] {
    // Into `work` it is moved twice, and a third time into the inbox.
    Work work(StopsWhenMoved(2, half_way, go_on));
    runtime::LeaseInbox::Key key("key");
    EXPECT_EQ(inbox.push(key, 7, work), runtime::LeaseInbox::Push::first);
  });
  half_way.wait();
  const std::uint32_t end = inbox.end();
  EXPECT_FALSE(inbox.drained_to(end));
  EXPECT_FALSE(inbox.ready());
  std::thread consumer([&] { inbox.wait_for_next(); });
  EXPECT_TRUE(eventually(all_others_sleep)) << "it turns round and round";
  go_on.count_down();
  consumer.join();
  int popped = 0;
  inbox.pop(2, false, [&](core::KeyText&& key, std::uint32_t hash, Work&& work) {
    EXPECT_EQ(key.view(), "key");
    EXPECT_EQ(hash, 7U);
    EXPECT_TRUE(work);
    ++popped;
  });
  EXPECT_EQ(popped, 1);
  EXPECT_TRUE(inbox.drained_to(end));
  producer.join();
}

// Short ones lie in the key, some are copied into the ring, long ones have memory of their own.
TEST(LeaseInbox, KeysOfEveryLengthComeThroughWhole) {
  runtime::LeaseInbox inbox;
  std::vector<std::string> keys;
  for (std::size_t length = 0; length < 200; ++length) {
    keys.push_back(std::string(length, static_cast<char>('a' + length % 26)));
  }
  for (int round = 0; round < 3; ++round) {
    for (const std::string& text : keys) {
      runtime::LeaseInbox::Key key(text);
      Work work(extend);
      ASSERT_NE(inbox.push(key, 0, work), runtime::LeaseInbox::Push::full);
    }
    std::size_t at = 0;
    inbox.pop(
        runtime::LeaseInbox::kCapacity, false,
        [&](core::KeyText&& key, std::uint32_t, Work&&) { EXPECT_EQ(key.view(), keys[at++]); });
    EXPECT_EQ(at, keys.size());
    inbox.show();
  }
}

}  // namespace
}  // namespace tenure::test
