// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

#include <tenure/election.h>
#include <tenure/runtime.h>

#include <atomic>
#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenure::test {
namespace {

using std::chrono::seconds;

// A store on a runtime with threads of its own.
struct Node {
  explicit Node(const std::string& path) {
    auto made = Runtime::create();
    EXPECT_TRUE(made.has_value()) << made.error().message;
    runtime = std::move(*made);
    auto opened = runtime->open_store("sqlite:" + path);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    store = std::move(*opened);
  }

  void on_loop(const std::function<void()>& task) {
    std::promise<void> done;
    runtime->post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

  ~Node() {
    std::promise<void> closed;
    runtime->post([&] { store->close([&] { closed.set_value(); }); });
    closed.get_future().wait();
    store.reset();
  }

  std::unique_ptr<Runtime> runtime;
  std::shared_ptr<LeaseStore> store;
};

TEST(SqliteThreads, ElectionsOfSeveralRuntimesHandEachOtherTheTerm) {
  constexpr int kTerms = 30;
  const TempDir folder;
  std::atomic<int> leaders{0};
  std::atomic<int> terms{0};
  std::atomic<std::uint64_t> last_token{0};
  std::atomic<bool> broken{false};
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Election> elections;
  for (int i = 0; i < 3; ++i) {
    nodes.push_back(std::make_unique<Node>(folder / "t.db"));
    auto made = Election::create(
        *nodes.back()->runtime, nodes.back()->store,
        {.name = "e", .ttl = seconds(30), .yield_pause = std::chrono::milliseconds(1)});
    ASSERT_TRUE(made.has_value()) << made.error().message;
    elections.push_back(std::move(*made));
    ASSERT_TRUE(elections.back().on_term([&](const Leadership& term, TermEnd end) {
      if (leaders.fetch_add(1) != 0) broken = true;
      if (term.token() <= last_token.exchange(term.token())) broken = true;
      ++terms;
      leaders.fetch_sub(1);
      end.done();
    }));
  }
  for (Election& election : elections) ASSERT_TRUE(election.start());
  EXPECT_TRUE(eventually([&] { return terms >= kTerms; }, seconds(60)));
  for (Election& election : elections) EXPECT_TRUE(election.stop(seconds(20)));
  EXPECT_FALSE(broken) << "two led at once, or a token did not grow";
  elections.clear();
}

TEST(SqliteThreads, ManyRequestsOfManyStoresAreAllAnsweredOnce) {
  constexpr int kRequests = 100;
  const TempDir folder;
  std::atomic<int> answers{0};
  std::atomic<int> wins{0};
  std::atomic<int> states{0};
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::unique_ptr<Watch>> watches(3);
  for (int i = 0; i < 3; ++i) nodes.push_back(std::make_unique<Node>(folder / "t.db"));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i]->on_loop([&, i] {
      watches[i] = nodes[i]->store->watch({}, [&](const Result<ElectionState>&) { ++states; });
      for (int k = 0; k < kRequests; ++k) {
        nodes[i]->store->acquire({.election = "e" + std::to_string(k),
                                  .id = "node",
                                  .session = std::to_string(i),
                                  .ttl = seconds(30)},
                                 [&](const Result<AcquireReply>& reply) {
                                   ++answers;
                                   if (reply && reply->ours) ++wins;
                                 });
      }
    });
  }
  EXPECT_TRUE(eventually([&] { return answers == 3 * kRequests; }));
  EXPECT_EQ(wins, kRequests);
  EXPECT_TRUE(eventually([&] { return states >= 3 * kRequests; }));
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i]->on_loop([&, i] { watches[i].reset(); });
}

TEST(SqliteThreads, LK01_ClosingInTheMiddleOfRequestsAnswersThemAll) {
  const TempDir folder;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> answers{0};
    std::atomic<int> ends{0};
    std::unique_ptr<Watch> watch;
    {
      Node node(folder / "t.db");
      node.on_loop([&] {
        watch = node.store->watch({"e"}, [&](const Result<ElectionState>& state) {
          if (!state) ++ends;
        });
        for (int k = 0; k < 20; ++k) {
          node.store->acquire({.election = "e",
                               .id = "node",
                               .session = "s" + std::to_string(round),
                               .ttl = seconds(30)},
                              [&](const Result<AcquireReply>&) { ++answers; });
        }
      });
    }
    EXPECT_EQ(answers, 20) << "close() was done before all were answered";
    EXPECT_EQ(ends, 1);
    watch.reset();
  }
}

}  // namespace
}  // namespace tenure::test
