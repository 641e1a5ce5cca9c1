// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What the memory store is beside the contract, which conformance_test.cc holds.
#include <tenure/memory_store.h>
#include <tenure/testkit/manual_executor.h>

#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenure {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testkit::ManualClock;
using testkit::ManualExecutor;

AcquireRequest asking(const std::string& session, const std::string& election = "e") {
  AcquireRequest request;
  request.election = election;
  request.id = "id";
  request.session = session;
  request.ttl = 15s;
  return request;
}

AcquireReply acquire(LeaseStore& store, ManualExecutor& executor, AcquireRequest request) {
  std::optional<Result<AcquireReply>> answer;
  store.acquire(std::move(request), [&](Result<AcquireReply> reply) { answer = std::move(reply); });
  executor.run_until_idle();
  EXPECT_TRUE(answer && answer->has_value());
  return answer && *answer ? **answer : AcquireReply{};
}

TEST(MemoryStore, RecordsEndExactlyAtTheirTtlAndWatchersHearOfItAtThatInstant) {
  ManualClock clock;
  ManualExecutor executor(clock);
  const auto backend = MemoryBackend::make(clock);
  const auto store = make_memory_store(backend, executor);
  std::optional<Instant> vacant_at;
  const auto watch = store->watch({"e", {}}, [&](const Result<ElectionState>& state) {
    if (state && !state->holder) vacant_at = clock.now();
  });
  const auto reply = acquire(*store, executor, asking("s1"));
  ASSERT_TRUE(reply.ours);
  EXPECT_EQ(reply.record->expires_at, reply.sent_at + 15s);
  executor.advance(1h);
  EXPECT_EQ(vacant_at, reply.sent_at + 15s);
}

TEST(MemoryStore, GrantsNoMoreThanTheBackendsMost) {
  ManualClock clock;
  ManualExecutor executor(clock);
  MemoryOptions options;
  options.max_ttl = 5s;
  const auto store = make_memory_store(MemoryBackend::make(clock, options), executor);
  EXPECT_EQ(acquire(*store, executor, asking("s1")).record->ttl, 5s);
  executor.advance(5s);
  EXPECT_TRUE(acquire(*store, executor, asking("s2")).ours);
}

TEST(MemoryStore, TheBackendJudgesByItsOwnClockAndTellsTimesInThatOfTheClient) {
  ManualClock server;
  ManualClock ours(Instant(77s));
  ManualExecutor executor(ours);
  const auto backend = MemoryBackend::make(server);
  const auto store = make_memory_store(backend, executor);
  int vacant = 0;
  const auto watch = store->watch({"e", {}}, [&](const Result<ElectionState>& state) {
    if (state && !state->holder) ++vacant;
  });
  const auto reply = acquire(*store, executor, asking("s1"));
  EXPECT_EQ(reply.sent_at, Instant(77s));
  EXPECT_EQ(reply.record->expires_at, Instant(92s));
  vacant = 0;
  // Our clock runs twice as fast: the first look is too early, the next ones get there.
  for (int i = 0; i < 20; ++i) {
    server.advance(1s);
    executor.advance(2s);
    EXPECT_EQ(vacant, i < 14 ? 0 : 1) << i;
  }
}

TEST(MemoryStore, ForcedChangesAreSeenByEverybody) {
  ManualClock clock;
  ManualExecutor executor(clock);
  const auto backend = MemoryBackend::make(clock);
  const auto store = make_memory_store(backend, executor);
  EXPECT_FALSE(backend->force_delete("e"));
  const auto reply = acquire(*store, executor, asking("s1"));
  const Record usurper = backend->force_takeover("e", "them", "s2", 30s);
  EXPECT_GT(usurper.token, reply.record->token);
  ASSERT_EQ(backend->elections().size(), 1U);
  EXPECT_EQ(backend->elections()[0].holder, usurper);
  EXPECT_FALSE(acquire(*store, executor, asking("s1")).ours);
  EXPECT_TRUE(backend->force_delete("e"));
  EXPECT_TRUE(acquire(*store, executor, asking("s1")).ours);
}

TEST(MemoryStore, OneUrlIsOneStoreInTheWholeProcessAndItsTokensNeverStartAgain) {
  ManualClock clock;
  ManualExecutor executor(clock);
  std::uint64_t last = 0;
  {
    const auto a = open_memory_store("memory:shared", executor);
    const auto b = open_memory_store("memory:shared", executor);
    const auto c = open_memory_store("memory:", executor);
    ASSERT_TRUE(a && b && c);
    const auto reply = acquire(**a, executor, asking("s1"));
    EXPECT_FALSE(acquire(**b, executor, asking("s2")).ours);
    EXPECT_TRUE(acquire(**c, executor, asking("s2")).ours) << "another name, another store";
    last = reply.record->token;
  }
  const auto again = open_memory_store("memory:shared", executor);
  const auto reply = acquire(**again, executor, asking("s3"));
  EXPECT_TRUE(reply.ours) << "nothing is left of a store that nobody has open";
  EXPECT_GT(reply.record->token, last);
}

TEST(MemoryStore, RefusesUrlsThatCannotBeMeant) {
  ManualClock clock;
  ManualClock other_clock;
  ManualExecutor executor(clock);
  ManualExecutor other(other_clock);
  EXPECT_EQ(open_memory_store("sqlite:x", executor).error().code, Errc::invalid_argument);
  const auto bad = open_memory_store("memory:a\nb", executor);
  ASSERT_FALSE(bad.has_value());
  EXPECT_THAT(bad.error().message, HasSubstr("control character"));
  const auto first = open_memory_store("memory:clocked", executor);
  const auto second = open_memory_store("memory:clocked", other);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Errc::invalid_argument);
  EXPECT_THAT(second.error().message, HasSubstr("clock"));
}

TEST(MemoryStore, AWatchWhoseStoreIsDestroyedEndsWithAnError) {
  ManualClock clock;
  ManualExecutor executor(clock);
  auto store = make_memory_store(MemoryBackend::make(clock), executor);
  std::optional<Errc> end;
  const auto watch = store->watch({"e", {}}, [&](const Result<ElectionState>& state) {
    if (!state) end = state.error().code;
  });
  store.reset();
  executor.run_until_idle();
  EXPECT_EQ(end, Errc::closed);
}

TEST(MemoryStore, ClientsOnManyThreadsShareOneBackendAndNeverBothHold) {
  ManualClock clock;
  const auto backend = MemoryBackend::make(clock);
  std::atomic<int> holding{0};
  std::atomic<int> terms{0};
  std::atomic<bool> overlapped{false};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      ManualExecutor executor(clock, static_cast<std::uint64_t>(thread) + 1);
      const auto store = make_memory_store(backend, executor);
      const auto watch = store->watch({"e", {}}, [](const Result<ElectionState>&) {});
      const std::string session = "s" + std::to_string(thread);
      int won = 0;
      const bool enough = executor.wait_until(
          [&] {
            const auto reply = acquire(*store, executor, asking(session));
            if (reply.ours) {
              if (++holding != 1) overlapped = true;
              --holding;
              ++terms;
              ++won;
              store->release({"e", session, reply.record->revision, kNever},
                             [](const Result<ReleaseReply>&) {});
            }
            executor.post([] {});
            return won == 50;
          },
          30s);
      EXPECT_TRUE(enough);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(overlapped);
  EXPECT_EQ(terms, 200);
}

}  // namespace
}  // namespace tenure
