// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// No work is lost: the books of a writer lease balance, whatever many threads do to it.
#include "core/rng.h"
#include "tests/support/eventually.h"
#include "writer_lease_make.h"

#include <tenure/writer_lease.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Of every length: short ones, those that travel in the inbox, and longer ones.
std::vector<std::string> keys_of_every_length(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back(std::to_string(i) + std::string(i % 80, 'k'));
  }
  return keys;
}

// Producers, workers, and everything else at random; then the books must balance.
TEST(WriterLeaseBooks, EveryPieceOfEightProducersIsAccountedFor) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    WriterLease lease = make({.lease = milliseconds(5),
                              .retry_interval = milliseconds(1),
                              .backoff = {.first = std::chrono::microseconds(100)},
                              .workers = 4,
                              .seed = seed});
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> alive{0};
    const std::vector<std::string> keys = keys_of_every_length(200);
    std::vector<std::thread> producers;
    for (std::uint64_t p = 0; p < 8; ++p) {
      producers.emplace_back([&, p] {
        core::Rng rng(seed * 100 + p);
        const std::vector<std::string_view> half(keys.begin() + 50, keys.begin() + 150);
        for (int i = 0; i < 5000; ++i) {
          const std::string& key = keys[rng.up_to(keys.size() - 1)];
          if (rng.up_to(200) == 0) lease.extend_all(half);
          switch (rng.up_to(19)) {
            case 0:
              lease.extend(key);
              break;
            case 1:
              lease.remove(key);
              break;
            case 2:
              lease.expire();
              break;
            default: {
              ++alive;
              const WorkEffect effect =
                  rng.up_to(9) == 0 ? WorkEffect::release : WorkEffect::extend;
              const bool retry = rng.up_to(9) == 0;
              const auto counted = std::shared_ptr<int>(new int(0), [&alive](const int* number) {
                delete number;
                --alive;
              });
              if (lease.try_work(key, [effect, retry, counted] {
                    return WorkResult{effect, retry};
                  })) {
                ++accepted;
              }
            }
          }
        }
      });
    }
    // One run is stopped in the middle.
    if (seed == 3) {
      ASSERT_TRUE(eventually([&] { return accepted > 5000; }));
      ASSERT_TRUE(lease.stop(seconds(20)));
    }
    for (std::thread& producer : producers) producer.join();
    ASSERT_TRUE(lease.stop(seconds(20)));
    const WriterCounters counters = lease.counters();
    EXPECT_EQ(counters.submitted, accepted);
    EXPECT_EQ(counters.submitted, counters.done + counters.replaced + counters.seen_elsewhere +
                                      counters.removed + counters.abandoned);
    EXPECT_EQ(lease.size(), 0U);
    EXPECT_EQ(alive, 0U) << "memory of every piece is freed";
  }
}

}  // namespace
}  // namespace tenure::test
