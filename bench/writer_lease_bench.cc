// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The speed and memory of a writer lease, as in docs/performance.md.
//
//   writer_lease_bench [--quick] [throughput|follower|extend|latency|memory]...

#include "writer_lease_measure.h"

#include <tenure/writer_lease.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <malloc.h>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using tenure::WorkEffect;
using tenure::WorkResult;
using tenure::WriterLease;
using tenure::WriterLeaseOptions;
using tenure::WriterState;
using tenure::bench::in_parallel;
using tenure::bench::print_median;
using tenure::bench::rounds_for;
using tenure::bench::Steps;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "writer_lease_bench: %s\n", what.c_str());
  std::exit(1);
}

WriterLease make(const WriterLeaseOptions& options) {
  auto lease = WriterLease::create(options);
  if (!lease) die(lease.error().message);
  return std::move(*lease);
}

WriterLease leader(std::size_t workers) { return make({.workers = workers}); }

// One that stands back for the whole measurement.
WriterLease follower(std::size_t workers) {
  WriterLease lease = make({.lease = std::chrono::hours(1),
                            .backoff = {.first = std::chrono::minutes(10)},
                            .workers = workers});
  const auto ok = lease.try_work("first", [] { return WorkResult{WorkEffect::release}; });
  if (!ok) die(ok.error().message);
  const auto leads = lease.wait();
  if (!leads || *leads) die("does not follow");
  return lease;
}

std::vector<std::string> make_keys(std::size_t count, std::size_t length) {
  std::vector<std::string> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string key = "k" + std::to_string(i);
    if (key.size() < length) key.insert(1, length - key.size(), '-');
    keys.push_back(std::move(key));
  }
  return keys;
}

WorkResult nothing() { return {WorkEffect::extend}; }

void submit_all(WriterLease& lease, const std::vector<std::string>& keys) {
  for (const auto& key : keys) (void)lease.try_work(key, nothing);
}

void extend_all(WriterLease& lease, const std::vector<std::string>& keys) {
  for (const auto& key : keys) lease.extend(key);
  if (lease.size() != 0) die("extend left something");
}

double submit_to_done(const std::vector<std::string>& keys, std::size_t producers,
                      std::size_t workers) {
  WriterLease lease = leader(workers);
  std::atomic<std::size_t> done{0};
  const std::size_t size = keys.size();
  Steps steps;
  steps.each = [&](std::string_view key) {
    const auto ok = lease.try_work(key, [&done, size] {
      if ((done.fetch_add(1) + 1) % size == 0) done.notify_all();
      return WorkResult{WorkEffect::extend};
    });
    if (!ok) die(ok.error().message);
  };
  steps.finish = [&](std::size_t round) {
    for (std::size_t now = done.load(); now < round * size; now = done.load()) done.wait(now);
  };
  return in_parallel(keys, producers, steps);
}

std::vector<std::size_t> sizes(bool quick) {
  if (quick) return {1000, 1'000'000};
  return {1000, 1'000'000, 5'000'000};
}

void throughput(bool quick) {
  std::puts("\nleader: distinct keys from submission to done, millions a second, median");
  std::puts("  keys      bytes  workers  producers: 1      4      8");
  for (const std::size_t workers : {std::size_t{1}, std::size_t{4}}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}}) {
      for (const std::size_t count : sizes(quick)) {
        const auto keys = make_keys(count, bytes);
        std::printf("  %-9zu %5zu  %7zu          ", count, bytes, workers);
        for (const std::size_t producers : {1U, 4U, 8U}) {
          print_median(quick, [&] { return submit_to_done(keys, producers, workers); });
        }
        std::puts("");
      }
    }
  }
}

void follower_submissions(bool quick) {
  std::puts("\nfollower: submissions, millions a second, median");
  std::puts("  keys      bytes  producers: 1      4      8   (same keys again: 1)");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}}) {
    for (const std::size_t count : sizes(quick)) {
      const auto keys = make_keys(count, bytes);
      std::printf("  %-9zu %5zu           ", count, bytes);
      WriterLease lease = follower(1);
      Steps steps;
      steps.each = [&](std::string_view key) { (void)lease.try_work(key, nothing); };
      steps.prepare = [&] { extend_all(lease, keys); };
      for (const std::size_t producers : {1U, 4U, 8U}) {
        print_median(quick, [&] { return in_parallel(keys, producers, steps); });
      }
      if (lease.size() != count) die("lost a key");
      steps.prepare = nullptr;
      print_median(quick, [&] { return in_parallel(keys, 1, steps); });
      std::puts("");
    }
  }
}

// As a watch gives them: so many at a time.
void extend_by_64(WriterLease& lease, std::span<const std::string> keys) {
  std::array<std::string_view, 64> batch;
  while (!keys.empty()) {
    const std::size_t some = std::min(keys.size(), batch.size());
    std::copy_n(keys.begin(), some, batch.begin());
    lease.extend_all(std::span(batch).first(some));
    keys = keys.subspan(some);
  }
}

void extends(bool quick) {
  std::puts("\nfollower: extends of keys with pending work, millions a second, median");
  std::puts("  keys      bytes  a call  threads: 1      4      8");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}}) {
    for (const std::size_t count : sizes(quick)) {
      const auto keys = make_keys(count, bytes);
      for (const int a_call : {1, 64}) {
        std::printf("  %-9zu %5zu  %6d         ", count, bytes, a_call);
        for (const std::size_t threads : {1U, 4U, 8U}) {
          WriterLease lease = follower(1);
          Steps steps;
          steps.prepare = [&] { submit_all(lease, keys); };
          steps.each = [&](std::string_view key) { lease.extend(key); };
          if (a_call > 1) {
            steps.all = [&](std::span<const std::string> some) { extend_by_64(lease, some); };
          }
          print_median(quick, [&] { return in_parallel(keys, threads, steps); });
          if (lease.size() != 0) die("extend left something");
        }
        std::puts("");
      }
    }
  }
}

void print_percentiles(const char* name, std::vector<double>& micros) {
  std::sort(micros.begin(), micros.end());
  const auto at = [&](double share) {
    return micros[static_cast<std::size_t>(share * static_cast<double>(micros.size() - 1))];
  };
  std::printf("  %-34s p50 %7.2f  p90 %7.2f  p99 %7.2f\n", name, at(0.5), at(0.9), at(0.99));
}

void latency(bool quick) {
  std::puts("\nleader, idle: one submission to done, microseconds");
  for (const std::size_t workers : {std::size_t{1}, std::size_t{4}}) {
    for (const bool rested : {false, true}) {
      WriterLease lease = leader(workers);
      std::atomic<int> done{0};
      std::vector<double> micros;
      const int rounds = rested ? 500 : (quick ? 20'000 : 200'000);
      for (int round = 1; round <= rounds; ++round) {
        if (rested) {
          const auto until = Clock::now() + std::chrono::milliseconds(1);
          std::this_thread::sleep_until(until);
        }
        const auto start = Clock::now();
        (void)lease.try_work("key", [&done, round] {
          done.store(round);
          return WorkResult{WorkEffect::extend};
        });
        while (done.load() != round) {
        }
        const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
        micros.push_back(spent.count());
      }
      const std::string name = std::to_string(workers) +
                               (workers == 1 ? " worker, " : " workers, ") +
                               (rested ? "after 1 ms of rest" : "one after another");
      print_percentiles(name.c_str(), micros);
    }
  }
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void memory(bool quick) {
  std::puts("\nfollower: bytes of heap for each pending key (keys are only counted inside)");
  std::puts("  keys      bytes   pending   when only every 64th is left   when all are gone");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}}) {
    for (const std::size_t count : sizes(quick)) {
      if (count < 1'000'000) continue;
      const auto keys = make_keys(count, bytes);
      WriterLease lease = follower(1);
      const std::size_t before = heap_bytes();
      const auto held_by = [&](std::size_t some) {
        const std::size_t now = heap_bytes();  // a few bytes of others may have gone meanwhile
        return static_cast<double>(std::max(now, before) - before) / static_cast<double>(some);
      };
      submit_all(lease, keys);
      if (lease.size() != count) die("lost a key");
      const double pending = held_by(count);
      for (std::size_t i = 0; i < count; ++i) {
        if (i % 64 != 0) lease.extend(keys[i]);
      }
      const double left = held_by(lease.size());
      extend_all(lease, keys);
      std::printf("  %-9zu %5zu   %7.1f   %28.0f   %17.3f\n", count, bytes, pending, left,
                  held_by(count));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> wanted(argv + 1, argv + argc);
  const bool quick = std::erase(wanted, "--quick") != 0;
  const auto run = [&](std::string_view name, void (*bench)(bool)) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end())
      bench(quick);
  };
  run("throughput", throughput);
  run("follower", follower_submissions);
  run("extend", extends);
  run("latency", latency);
  run("memory", memory);
}
