// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/lease/core.h"

#include "fuzz.h"
#include "tests/core/lease/core_twin.h"

#include <string>
#include <utility>
#include <vector>

using namespace tenure;  // a program of one file
using fuzz::Bytes;
using fuzz::require;

namespace {

// The writer lease and its naive twin, told the same things.
class Pair {
 public:
  explicit Pair(Bytes& bytes)
      : bytes_(bytes), terms_(terms()), core_(terms_, 7), twin_(terms_, 7) {}

  void run() {
    while (!bytes_.empty()) {
      one();
      require(core_.state().state() == twin_.state, "the same state");
      require(core_.state().expires() == twin_.expires, "the same end of the lease");
      require(core_.state().tick() == twin_.tick, "the same tick");
      require(core_.size() == twin_.size(), "the same number of keys");
      require(core_.probing() == twin_.probe.has_value(), "the same probe");
    }
    while (!running_.empty()) finish(WorkResult{});
    const WriterCounters& c = core_.counters();
    require(c.submitted == c.done + c.replaced + c.seen_elsewhere + c.removed + core_.size(),
            "no work is lost");
    while (core_.abandon_one()) {
    }
    require(core_.queue().slab().in_use() == 0, "nothing is left behind");
  }

 private:
  core::LeaseTerms terms() {
    core::LeaseTerms terms;
    terms.lease = std::chrono::milliseconds(1 + 8 * bytes_.byte());
    terms.retry_interval = std::chrono::milliseconds(bytes_.byte());
    terms.backoff.first = std::chrono::milliseconds(bytes_.up_to(40));
    return terms;
  }

  void one() {
    const std::string key = "k" + std::to_string(bytes_.up_to(3));
    const std::uint32_t hash = core::hash_key(key);
    switch (bytes_.up_to(7)) {
      case 0:
      case 1:
        core_.submit(
            key, hash, [this, id = ++next_] { return last_ = id, WorkResult{}; }, now_);
        return twin_.submit(key, next_, now_);
      case 2:
        return require(core_.extend(key, hash, now_).pending == twin_.extend(key, now_), "extend");
      case 3:
        return require(core_.remove(key, hash).pending == twin_.remove(key), "remove");
      case 4:
        if (bytes_.up_to(3) != 0) break;
        core_.expire();
        return twin_.expire(now_);
      case 5:
        return take();
      case 6:
        if (!running_.empty()) finish(result());
        return;
      default:
        break;
    }
    now_ += std::chrono::milliseconds(4 * bytes_.byte());
  }

  WorkResult result() {
    constexpr WorkEffect kEffects[] = {WorkEffect::none, WorkEffect::extend, WorkEffect::release};
    return {kEffects[bytes_.up_to(2)], bytes_.flag()};
  }

  void take() {
    core::LeaseCore::Job job = core_.take(now_);
    require(static_cast<bool>(job) == twin_.any_may_run(now_), "both run something, or none");
    if (!job) return;
    std::string key(job.key);
    require(twin_.may_run(key, now_), "what may run");
    job.work();
    require(last_ == twin_.start(key), "the newest work of the key");
    running_.emplace_back(std::move(job), std::move(key));
  }

  void finish(WorkResult result) {
    std::swap(running_[bytes_.byte() % running_.size()], running_.back());
    auto [job, key] = std::move(running_.back());
    running_.pop_back();
    twin_.finish(key, result, now_);
    core_.finish(std::move(job), result, now_);
  }

  Bytes& bytes_;
  core::LeaseTerms terms_;
  Instant now_{std::chrono::seconds(100)};
  core::LeaseCore core_;
  core::LeaseTwin twin_;
  std::vector<std::pair<core::LeaseCore::Job, std::string>> running_;
  int next_ = 0;
  int last_ = 0;
};

}  // namespace

// Any sequence of inputs: the machine does what its naive twin does.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  Pair(bytes).run();
  return 0;
}
