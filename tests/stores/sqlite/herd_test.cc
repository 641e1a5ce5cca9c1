// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

#include <tenure/election.h>
#include <tenure/runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenure::test {
namespace {

/// The transactions in a write-ahead log, in SQLite's file format: a header of 32 bytes, then
/// frames of a header of 24 and a page; the one that ends a transaction says so.
class Log {
 public:
  explicit Log(const std::string& database) {
    std::ifstream file(database + "-wal", std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  /// Two logs of the same salt: the later one has the former's frames at its beginning.
  [[nodiscard]] std::string salt() const { return bytes_.substr(16, 8); }
  [[nodiscard]] int commits() const {
    const std::size_t frame = 24 + number(8);
    int found = 0;
    for (std::size_t at = 32; at + frame <= bytes_.size(); at += frame) {
      if (bytes_.compare(at + 8, 8, salt()) == 0 && number(at + 4) != 0) ++found;
    }
    return found;
  }
  [[nodiscard]] bool is_there() const { return bytes_.size() >= 32; }

 private:
  [[nodiscard]] std::size_t number(std::size_t at) const {
    std::size_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      value = value << 8U | static_cast<unsigned char>(bytes_[i]);
    }
    return value;
  }
  std::string bytes_;
};

/// As a process of its own would have: a loop, a connection, waiters.
struct Node {
  explicit Node(const std::string& path)
      : runtime(*Runtime::create()), store(*runtime->open_store("sqlite:" + path)) {}

  void add(const std::string& id) {
    // Renewals are writes too; with a ttl as long as this there are none meanwhile.
    members.push_back(*Election::create(
        *runtime, store, {.name = "billing", .id = id, .ttl = std::chrono::hours(24)}));
    ASSERT_TRUE(members.back().start());
  }
  /// Whatever was asked of the store before has been carried out.
  void drain() const {
    std::atomic<bool> done{false};
    runtime->post([&] {
      store->list({.election = {}}, [&](const Result<std::vector<ElectionState>>& all) {
        EXPECT_TRUE(all);
        done = true;
      });
    });
    ASSERT_TRUE(eventually([&] { return done.load(); }));
  }

  std::unique_ptr<Runtime> runtime;
  std::shared_ptr<LeaseStore> store;
  std::vector<Election> members;
};

TEST(SqliteHerd, RT01_AHandOverIsTwoTransactionsHoweverManyWait) {
  const TempDir folder;
  const std::string path = folder / "t.db";
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < 6; ++i) nodes.push_back(std::make_unique<Node>(path));
  Node holder(path);
  holder.add("first");
  Election& first = holder.members[0];
  ASSERT_TRUE(eventually([&] { return first.held(); }));
  for (const auto& node : nodes) {
    for (int i = 0; i < 5; ++i) node->add("waiter");
  }
  const auto all_see = [&](const std::string& id) {
    return eventually([&] {
      return std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) {
        return std::all_of(node->members.begin(), node->members.end(),
                           [&](const Election& each) { return each.holder() == id; });
      });
    });
  };
  ASSERT_TRUE(all_see("first"));
  for (const auto& node : nodes) node->drain();
  const Log before(path);
  ASSERT_TRUE(before.is_there());

  ASSERT_TRUE(first.stop(std::chrono::seconds(5)));
  ASSERT_TRUE(all_see("waiter"));
  for (const auto& node : nodes) node->drain();

  const Log after(path);
  ASSERT_EQ(after.salt(), before.salt()) << "the log began anew";
  EXPECT_EQ(after.commits() - before.commits(), 2) << "the release, and the acquire that won";
  int leaders = 0;
  for (const auto& node : nodes) {
    for (const Election& each : node->members) leaders += each.held() ? 1 : 0;
  }
  EXPECT_EQ(leaders, 1);
}

}  // namespace
}  // namespace tenure::test
