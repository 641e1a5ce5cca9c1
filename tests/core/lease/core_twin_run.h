// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/lease/core.h"
#include "core/rng.h"
#include "core_twin.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenure::core {

/// Drives the machine and its twin with the same random inputs and times, and compares them.
class TwinRun {
 public:
  explicit TwinRun(std::uint64_t seed)
      : random_(seed), terms_(random_terms(random_)), core_(terms_, seed), twin_(terms_, seed) {}

  /// Fails the current test at the first difference.
  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      step();
      compare();
    }
    finish_all();
  }

 private:
  struct Running {
    LeaseCore::Job job;
    std::string key;
  };

  static LeaseTerms random_terms(Rng& random) {
    constexpr Duration kMs = std::chrono::milliseconds(1);
    LeaseTerms terms;
    terms.lease = kMs * static_cast<int>(1 + random.up_to(2000));
    terms.retry_interval = kMs * static_cast<int>(random.up_to(3) == 0 ? 0 : random.up_to(300));
    terms.backoff.first = kMs * static_cast<int>(random.up_to(40));
    return terms;
  }

  Work piece(int id) {
    return [this, alive = std::make_shared<int>(id)] {
      last_ = *alive;
      return WorkResult{};
    };
  }

  std::string random_key() { return "k" + std::to_string(random_.up_to(9)); }

  void step() {
    const std::string key = random_key();
    switch (random_.up_to(9)) {
      case 0:
      case 1:
      case 2:
        ++next_id_;
        core_.submit(key, hash_key(key), piece(next_id_), now_);
        twin_.submit(key, next_id_, now_);
        return;
      case 3:
        ASSERT_EQ(core_.extend(key, hash_key(key), now_).pending, twin_.extend(key, now_));
        return;
      case 4:
        ASSERT_EQ(core_.remove(key, hash_key(key)).pending, twin_.remove(key));
        return;
      case 5:
        if (random_.up_to(3) != 0) return;
        core_.expire();
        twin_.expire(now_);
        return;
      case 6:
        return advance();
      default:
        return random_.up_to(1) == 0 || running_.size() > 3 ? finish_one() : take();
    }
  }

  void advance() {
    const Instant due = twin_.next_due(now_);
    if (due != kNever && random_.up_to(1) == 0) {
      now_ = std::max(now_, due - Duration(static_cast<int>(random_.up_to(1))));
    } else {
      now_ += std::chrono::milliseconds(random_.up_to(1) == 0 ? random_.up_to(40)
                                                              : random_.up_to(1000));
    }
  }

  void take() {
    LeaseCore::Job job = core_.take(now_);
    ASSERT_EQ(static_cast<bool>(job), twin_.any_may_run(now_));
    if (!job) return;
    const std::string key(job.key);
    ASSERT_TRUE(twin_.may_run(key, now_)) << key;
    ASSERT_EQ(job.probe, twin_.state == WriterState::following);
    job.work();
    ASSERT_EQ(last_, twin_.start(key));
    running_.push_back({std::move(job), key});
  }

  void finish_one() {
    if (running_.empty()) return;
    std::swap(running_[random_.up_to(running_.size() - 1)], running_.back());
    Running ended = std::move(running_.back());
    running_.pop_back();
    constexpr WorkEffect kEffects[] = {WorkEffect::none, WorkEffect::extend, WorkEffect::release};
    const WorkResult result{kEffects[random_.up_to(2)], random_.up_to(2) == 0};
    const WriterState before = twin_.state;
    twin_.finish(ended.key, result, now_);
    const LeaseCore::Outcome outcome = core_.finish(std::move(ended.job), result, now_);
    ASSERT_EQ(outcome.state_changed, twin_.state != before);
    ASSERT_EQ(outcome.resolved,
              before == WriterState::electing && twin_.state != WriterState::electing);
  }

  void compare() {
    ASSERT_EQ(core_.state().state(), twin_.state);
    ASSERT_EQ(core_.state().expires(), twin_.expires);
    ASSERT_EQ(core_.state().tick(), twin_.tick);
    ASSERT_EQ(core_.size(), twin_.size());
    ASSERT_EQ(core_.probing(), twin_.probe.has_value());
    // The machine may say "now" for a key that runs; never later than the truth.
    const Instant due = std::max(core_.next_due(), now_);
    ASSERT_LE(due, twin_.next_due(now_));
    if (running_.empty()) {
      ASSERT_EQ(due, twin_.next_due(now_));
    }
    const WriterCounters& counters = core_.counters();
    ASSERT_EQ(counters.submitted, twin_.counters.submitted);
    ASSERT_EQ(counters.done, twin_.counters.done);
    ASSERT_EQ(counters.replaced, twin_.counters.replaced);
    ASSERT_EQ(counters.seen_elsewhere, twin_.counters.seen_elsewhere);
    ASSERT_EQ(counters.removed, twin_.counters.removed);
    ASSERT_EQ(counters.runs, twin_.counters.runs);
    ASSERT_EQ(counters.retries, twin_.counters.retries);
    ASSERT_EQ(counters.probes, twin_.counters.probes);
    ASSERT_EQ(counters.state_changes, twin_.counters.state_changes);
  }

  // No work is lost: when nothing runs, the counters account for every piece.
  void finish_all() {
    while (!running_.empty() && !testing::Test::HasFatalFailure()) finish_one();
    const WriterCounters& counted = core_.counters();
    ASSERT_EQ(counted.submitted, counted.done + counted.replaced + counted.seen_elsewhere +
                                     counted.removed + core_.size());
    const std::size_t left = core_.size();
    std::size_t abandoned = 0;
    while (core_.abandon_one()) ++abandoned;
    ASSERT_EQ(abandoned, left);
    ASSERT_EQ(core_.queue().slab().in_use(), 0U);
  }

  Rng random_;
  LeaseTerms terms_;
  Instant now_{std::chrono::seconds(100)};
  LeaseCore core_;
  LeaseTwin twin_;
  std::vector<Running> running_;
  int next_id_ = 0;
  int last_ = 0;
};

}  // namespace tenure::core
