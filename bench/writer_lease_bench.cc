// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The speed and memory of a writer lease, as in docs/performance.md.
//
//   writer_lease_bench [--quick] [throughput|follower|extend|latency|memory]...

#include <tenure/writer_lease.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
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

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

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

struct Shape {
  std::size_t producers;
  std::size_t keys;
  std::size_t key_bytes;
};

// How often a set of keys is gone through, so that what is measured is not the start of a thread.
std::size_t rounds_for(std::size_t keys) { return std::max<std::size_t>(1, 1'000'000 / keys); }

// Splits the keys among threads and lets each go through its part `rounds` times; `each` is called
// for a key, `between` by each thread after a round. Returns how many keys a second that were.
template <class Each, class Between>
double in_parallel(const std::vector<std::string>& keys, std::size_t producers, std::size_t rounds,
                   Each each, Between between) {
  std::barrier ready(static_cast<std::ptrdiff_t>(producers) + 1);
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      const std::size_t from = keys.size() * p / producers;
      const std::size_t to = keys.size() * (p + 1) / producers;
      ready.arrive_and_wait();
      for (std::size_t round = 1; round <= rounds; ++round) {
        for (std::size_t i = from; i < to; ++i) each(std::string_view(keys[i]));
        between(round);
      }
    });
  }
  ready.arrive_and_wait();
  const auto start = Clock::now();
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(keys.size() * rounds) / seconds_since(start);
}

double submit_to_done(const Shape& shape, std::size_t workers) {
  WriterLease lease = leader(workers);
  const auto keys = make_keys(shape.keys, shape.key_bytes);
  std::atomic<std::size_t> done{0};
  return in_parallel(
      keys, shape.producers, rounds_for(shape.keys),
      [&](std::string_view key) {
        const auto ok = lease.try_work(key, [&done, size = keys.size()] {
          if ((done.fetch_add(1) + 1) % size == 0) done.notify_all();
          return WorkResult{WorkEffect::extend};
        });
        if (!ok) die(ok.error().message);
      },
      [&](std::size_t round) {
        for (std::size_t now = done.load(); now < round * shape.keys; now = done.load()) {
          done.wait(now);
        }
      });
}

void throughput(bool quick) {
  std::puts("\nleader: distinct keys from submission to done, millions a second");
  std::puts("  keys      bytes  workers  producers: 1      4      8");
  std::vector<std::size_t> sizes{1000, 1'000'000};
  if (!quick) sizes.push_back(5'000'000);
  for (const std::size_t workers : {std::size_t{1}, std::size_t{4}}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}}) {
      for (const std::size_t keys : sizes) {
        std::printf("  %-9zu %5zu  %7zu          ", keys, bytes, workers);
        for (const std::size_t producers : {1U, 4U, 8U}) {
          double best = 0;
          for (int round = 0; round < (quick ? 1 : 3); ++round) {
            best = std::max(best, submit_to_done({producers, keys, bytes}, workers));
          }
          std::printf("  %5.2f", best / 1e6);
          std::fflush(stdout);
        }
        std::puts("");
      }
    }
  }
}

void follower_submissions(bool quick) {
  std::puts("\nfollower: submissions, millions a second");
  std::puts("  keys      bytes  producers: 1      4      8   (same keys again: 1)");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}}) {
    for (const std::size_t count :
         {std::size_t{1000}, std::size_t{quick ? 300'000U : 1'000'000U}}) {
      const auto keys = make_keys(count, bytes);
      std::printf("  %-9zu %5zu           ", count, bytes);
      double again = 0;
      for (const std::size_t producers : {1U, 4U, 8U}) {
        WriterLease lease = follower(1);
        const auto submit = [&](std::string_view key) {
          (void)lease.try_work(key, [] { return WorkResult{WorkEffect::extend}; });
        };
        const auto nothing = [](std::size_t) {};
        std::printf("  %5.2f", in_parallel(keys, producers, 1, submit, nothing) / 1e6);
        if (producers == 1) again = in_parallel(keys, 1, rounds_for(count), submit, nothing);
        if (lease.size() != count) die("lost a key");
      }
      std::printf("   %5.2f\n", again / 1e6);
    }
  }
}

void extends(bool quick) {
  std::puts("\nfollower: extends of keys with pending work, millions a second");
  std::puts("  keys      bytes  threads: 1      4");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}}) {
    for (const std::size_t count :
         {std::size_t{1000}, std::size_t{quick ? 300'000U : 1'000'000U}}) {
      const auto keys = make_keys(count, bytes);
      std::printf("  %-9zu %5zu         ", count, bytes);
      for (const std::size_t threads : {1U, 4U}) {
        WriterLease lease = follower(1);
        double spent = 0;
        for (std::size_t round = 0; round < rounds_for(count); ++round) {
          for (const auto& key : keys) {
            (void)lease.try_work(key, [] { return WorkResult{WorkEffect::extend}; });
          }
          const auto extend = [&](std::string_view key) { lease.extend(key); };
          if (threads == 1) {
            const auto start = Clock::now();
            for (const auto& key : keys) extend(key);
            spent += seconds_since(start);
          } else {
            spent += static_cast<double>(count) /
                     in_parallel(keys, threads, 1, extend, [](std::size_t) {});
          }
          if (lease.size() != 0) die("extend left something");
        }
        const auto all = static_cast<double>(count * rounds_for(count));
        std::printf("  %5.2f", all / spent / 1e6);
      }
      std::puts("");
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
        micros.push_back(seconds_since(start) * 1e6);
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
  std::puts("  keys      bytes   pending   after all were extended away");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}}) {
    for (const std::size_t count :
         {std::size_t{1'000'000}, std::size_t{quick ? 1'500'000U : 5'000'000U}}) {
      const auto keys = make_keys(count, bytes);
      WriterLease lease = follower(1);
      const std::size_t before = heap_bytes();
      for (const auto& key : keys) {
        (void)lease.try_work(key, [] { return WorkResult{WorkEffect::extend}; });
      }
      const std::size_t pending = heap_bytes() - before;
      if (lease.size() != count) die("lost a key");
      for (const auto& key : keys) lease.extend(key);
      const auto held = static_cast<double>(heap_bytes()) - static_cast<double>(before);
      std::printf("  %-9zu %5zu   %7.1f   %7.3f\n", count, bytes,
                  static_cast<double>(pending) / static_cast<double>(count),
                  held / static_cast<double>(count));
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
