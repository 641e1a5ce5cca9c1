// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/event_queue.h"

#include "tests/runtime/child.h"
#include "tests/support/eventually.h"

#include <tenure/testkit/manual_clock.h>

#include <atomic>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <poll.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenure::runtime {
namespace {

Event event(EventBody body) { return {std::move(body), {}, 0}; }

Event elected(std::uint64_t token) {
  static const testkit::ManualClock clock;
  return event(Elected{Leadership(std::make_shared<detail::Term>(clock, token))});
}
Event lost(std::uint64_t token) { return event(Lost{token, LossReason::expired, ""}); }
Event holder(std::string id) { return event(HolderChanged{std::move(id), 1}); }
Event trouble(Errc code, std::string text = "") {
  return event(Trouble{{code, std::move(text)}, false});
}
Event recovered(Errc code) { return event(Trouble{{code, ""}, true}); }
Event stopped() { return event(Stopped{}); }

std::string describe(const Event& event) {
  struct Describer {
    std::string operator()(const Elected& e) const {
      return "E" + std::to_string(e.leadership.token());
    }
    std::string operator()(const Lost& e) const { return "L" + std::to_string(e.token); }
    std::string operator()(const HolderChanged& e) const { return "H" + e.holder; }
    std::string operator()(const Trouble& e) const {
      return (e.recovered ? "R:" : "T:") + std::string(to_string(e.error.code)) + e.error.message;
    }
    std::string operator()(const Stopped&) const { return "S"; }
  };
  const std::string text = std::visit(Describer{}, event.body);
  return event.folded_terms == 0 ? text : text + "+" + std::to_string(event.folded_terms);
}

std::string drain(EventQueue& queue) {
  std::string all;
  while (const auto next = queue.pop()) all += (all.empty() ? "" : " ") + describe(*next);
  return all;
}

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(EventQueue, EventsComeInTheOrderInWhichTheyHappened) {
  EventQueue queue(64);
  EXPECT_TRUE(queue.empty());
  queue.push(holder("b"));
  queue.push(elected(1));
  queue.push(lost(1));
  queue.push(stopped());
  EXPECT_FALSE(queue.empty());
  EXPECT_EQ(drain(queue), "Hb E1 L1 S");
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, NewestHolderReplacesAnUnreadOneAndStandsWhereItHappened) {
  EventQueue queue(64);
  queue.push(holder("a"));
  queue.push(elected(1));
  queue.push(holder("b"));
  queue.push(lost(1));
  EXPECT_EQ(drain(queue), "E1 Hb L1");
  queue.push(holder("c"));
  EXPECT_EQ(drain(queue), "Hc");
}

TEST(EventQueue, TroubleReplacesAnUnreadOneOfItsKindOnly) {
  EventQueue queue(64);
  queue.push(trouble(Errc::unavailable, "-first"));
  queue.push(trouble(Errc::corrupt));
  queue.push(recovered(Errc::unavailable));
  queue.push(trouble(Errc::unavailable, "-second"));
  EXPECT_EQ(drain(queue), "T:corrupt R:unavailable T:unavailable-second");
}

TEST(EventQueue, NothingFollowsStopped) {
  EventQueue queue(64);
  queue.push(stopped());
  queue.push(holder("late"));
  EXPECT_EQ(drain(queue), "S");
  queue.push(elected(1));
  EXPECT_EQ(drain(queue), "");
}

TEST(EventQueue, EV06_ReaderThatNeverReadsMissesWholePastTermsAndIsToldHowMany) {
  EventQueue queue(8);
  for (std::uint64_t token = 1; token <= 100; ++token) {
    queue.push(elected(token));
    queue.push(lost(token));
    queue.push(holder("b"));
  }
  queue.push(elected(101));
  queue.push(holder("a"));
  EXPECT_EQ(drain(queue), "E98+97 L98 E99 L99 E100 L100 E101 Ha");
}

TEST(EventQueue, LossOfATermThatWasReadIsNeverFoldedAway) {
  EventQueue queue(8);
  queue.push(elected(1));
  EXPECT_EQ(describe(*queue.pop()), "E1");
  queue.push(lost(1));
  for (std::uint64_t token = 2; token <= 50; ++token) {
    queue.push(elected(token));
    queue.push(lost(token));
  }
  queue.push(stopped());
  EXPECT_EQ(drain(queue), "L1 E48+46 L48 E49 L49 E50 L50 S");
}

TEST(EventQueue, OlderTroublesGoBeforeATermIsFolded) {
  EventQueue queue(8);
  for (const Errc code : {Errc::unavailable, Errc::corrupt, Errc::conflict, Errc::not_found}) {
    queue.push(trouble(code));
  }
  for (std::uint64_t token = 1; token <= 2; ++token) {
    queue.push(elected(token));
    queue.push(lost(token));
  }
  queue.push(elected(3));
  queue.push(holder("a"));
  EXPECT_EQ(drain(queue), "T:conflict T:not_found E1 L1 E2 L2 E3 Ha");
}

TEST(EventQueue, CountOfFoldedTermsMovesOnWithAnEventThatIsReplaced) {
  EventQueue queue(8);
  for (std::uint64_t token = 1; token <= 3; ++token) {
    queue.push(elected(token));
    queue.push(lost(token));
    if (token == 1) queue.push(holder("a"));
  }
  queue.push(elected(4));
  queue.push(lost(4));
  // Term 1 was folded before the holder changed; now that change is replaced.
  queue.push(holder("b"));
  EXPECT_EQ(drain(queue), "E2+1 L2 E3 L3 E4 L4 Hb");
}

TEST(EventQueue, SmallCapacityIsRaisedToWhatMayNotBeDropped) {
  EventQueue queue(0);
  for (std::uint64_t token = 1; token <= 4; ++token) {
    queue.push(elected(token));
    queue.push(lost(token));
  }
  EXPECT_EQ(drain(queue), "E1 L1 E2 L2 E3 L3 E4 L4");
}

TEST(EventQueue, DescriptorIsReadableExactlyWhileEventsAreUnread) {
  EventQueue queue(8);
  queue.push(holder("a"));
  const int fd = queue.fd();
  ASSERT_GE(fd, 0);
  EXPECT_EQ(queue.fd(), fd);
  EXPECT_TRUE(readable(fd));
  queue.push(elected(1));
  (void)queue.pop();
  EXPECT_TRUE(readable(fd));
  (void)queue.pop();
  EXPECT_FALSE(readable(fd));
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_FALSE(readable(fd));
  queue.push(stopped());
  EXPECT_TRUE(readable(fd));
  (void)queue.pop();
  EXPECT_FALSE(readable(fd));
  EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

TEST(EventQueue, DescriptorOfAnEmptyQueueIsNotReadable) {
  EventQueue queue(8);
  EXPECT_FALSE(readable(queue.fd()));
}

TEST(EventQueue, LK03_ForkedChildReadsNothingAndLeavesTheParentsDescriptorAlone) {
  EventQueue queue(8);
  queue.push(holder("a"));
  const int fd = queue.fd();
  EXPECT_EQ(test::in_child([&] {
              if (queue.pop() || queue.fd() != -1 || !queue.empty()) return 1;
              queue.push(holder("b"));
              return 0;
            }),
            0);
  EXPECT_TRUE(readable(fd));
  EXPECT_EQ(drain(queue), "Ha");
}

TEST(EventQueue, ReaderThatOnlyWaitsOnTheDescriptorGetsEveryTermOfAConcurrentWriter) {
  constexpr std::uint64_t kTerms = 20'000;
  EventQueue queue(8);
  std::thread writer([&queue] {
    for (std::uint64_t token = 1; token <= kTerms; ++token) {
      queue.push(elected(token));
      queue.push(holder("a"));
      queue.push(lost(token));
    }
    queue.push(stopped());
  });
  const int fd = queue.fd();
  std::uint64_t terms = 0;
  bool leading = false;
  bool ended = false;
  while (!ended) {
    pollfd entry{fd, POLLIN, 0};
    ASSERT_EQ(::poll(&entry, 1, 20'000), 1) << "an event was left without a signal";
    while (const auto next = queue.pop()) {
      terms += next->folded_terms;
      if (std::holds_alternative<Elected>(next->body)) {
        ASSERT_FALSE(std::exchange(leading, true));
      } else if (std::holds_alternative<Lost>(next->body)) {
        ASSERT_TRUE(std::exchange(leading, false));
        ++terms;
      }
      ended = std::holds_alternative<Stopped>(next->body);
    }
  }
  writer.join();
  EXPECT_EQ(terms, kTerms);
}

}  // namespace
}  // namespace tenure::runtime
