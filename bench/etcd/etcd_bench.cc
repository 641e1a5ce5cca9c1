// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0

/// What elections in etcd cost, against a raw put of the same run to the same server:
/// a campaign of a warm store object, a hand-over from one store object to another, and many
/// elections of one store object. Usage: etcd_bench URL [ROUNDS] [ELECTIONS]
#include "stores/etcd/client.h"

#include <tenure/clock.h>
#include <tenure/etcd_store.h>
#include <tenure/testkit/manual_executor.h>

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using tenure::Duration;
using tenure::Instant;
using tenure::Result;

constexpr Duration kPatience = std::chrono::seconds(60);

std::size_t heap_bytes() { return ::mallinfo2().uordblks; }

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double milliseconds(Duration span) {
  return std::chrono::duration<double, std::milli>(span).count();
}

double median(std::vector<Duration> spans) {
  const auto middle = spans.begin() + static_cast<std::ptrdiff_t>(spans.size() / 2);
  std::nth_element(spans.begin(), middle, spans.end());
  return milliseconds(*middle);
}

class Bench {
 public:
  Bench(tenure::EtcdOptions options, int rounds, int elections)
      : options_(std::move(options)), rounds_(rounds), elections_(elections) {}

  void run() {
    report("campaign, warm store object", campaign(), raw_put({}));
    // A put after the same rest: what has rested takes its time to wake, on either side.
    for (const Duration rest : {std::chrono::milliseconds(250), std::chrono::milliseconds(5)}) {
      report(rest > std::chrono::milliseconds(100) ? "hand-over, in line for 250 ms"
                                                   : "hand-over, in line for 5 ms",
             hand_over(rest), raw_put(rest));
    }
    many();
  }

 private:
  static void report(const char* what, double took, double put) {
    std::printf("%-32s %8.3f ms = %.2f raw puts of %.3f ms\n", what, took, took / put, put);
  }

  [[nodiscard]] Instant now() { return executor_.clock().now(); }
  void until(const std::function<bool()>& done) {
    if (executor_.wait_until(done, kPatience)) return;
    std::fprintf(stderr, "etcd_bench: no answer\n");
    std::exit(1);
  }
  void pass(Duration span) {
    bool over = false;
    const auto timer = executor_.at(now() + span, [&over] { over = true; });
    until([&over] { return over; });
  }
  [[nodiscard]] std::unique_ptr<tenure::EtcdStore> open() {
    auto store = tenure::open_etcd_store(options_, executor_);
    if (store) return std::move(*store);
    std::fprintf(stderr, "etcd_bench: %s\n", store.error().message.c_str());
    std::exit(1);
  }
  static tenure::AcquireRequest asking(const std::string& election, const std::string& session) {
    return {election, "bench", session, std::chrono::seconds(15)};
  }
  tenure::AcquireReply acquire(tenure::LeaseStore& store, const std::string& election,
                               const std::string& session) {
    std::optional<Result<tenure::AcquireReply>> answer;
    store.acquire(asking(election, session), [&answer](auto reply) { answer = std::move(reply); });
    until([&answer] { return answer.has_value(); });
    return answer->value();
  }
  void release(tenure::LeaseStore& store, const std::string& election, const std::string& session) {
    bool done = false;
    store.release({election, session}, [&done](const auto&) { done = true; });
    until([&done] { return done; });
  }

  double raw_put(Duration rest) {
    tenure::etcd::Client client(options_, executor_, tenure::etcd::open_grpc_channel);
    std::vector<Duration> spans;
    const int rounds = rest == Duration::zero() ? rounds_ : rounds_ / 4;
    for (int i = 0; i < rounds + 10; ++i) {
      if (rest > Duration::zero()) pass(rest);
      bool done = false;
      tenure::etcd::Txn txn;
      txn.then = {tenure::etcd::Put{options_.prefix + "raw", "value"}};
      const Instant began = now();
      client.txn(std::move(txn), tenure::kNever, [&done](const auto& reply) {
        (void)reply.value();
        done = true;
      });
      until([&done] { return done; });
      if (i >= 10) spans.push_back(now() - began);
    }
    return median(spans);
  }

  double campaign() {
    const auto store = open();
    std::vector<Duration> spans;
    for (int i = 0; i < rounds_ + 10; ++i) {
      const Instant began = now();
      const auto reply = acquire(*store, "campaign", "s");
      if (i >= 10) spans.push_back(now() - began);
      if (!reply.ours) std::exit(1);
      release(*store, "campaign", "s");
    }
    return median(spans);
  }

  // From the call of release() to the answer of the acquire() that the watch has asked for.
  double hand_over(Duration in_line) {
    const std::unique_ptr<tenure::EtcdStore> stores[] = {open(), open()};
    std::vector<Duration> spans;
    (void)acquire(*stores[0], "hand-over", "s0");
    std::size_t last = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(rounds_) / 4 + 5; ++i) {
      tenure::EtcdStore& holder = *stores[i % 2];
      tenure::EtcdStore& waiter = *stores[(i + 1) % 2];
      const std::string held_by = "s" + std::to_string(i);
      const std::string session = "s" + std::to_string(i + 1);
      bool elected = false;
      const auto watch = waiter.watch({"hand-over", session}, [&](const auto& state) {
        if (!state || !state->holder || state->holder->session != session) return;
        waiter.acquire(asking("hand-over", session), [&elected](const auto& reply) {
          if (reply && reply->ours) elected = true;
        });
      });
      (void)acquire(waiter, "hand-over", session);
      pass(in_line);
      const Instant began = now();
      holder.release({"hand-over", held_by}, [](const auto&) {});
      until([&elected] { return elected; });
      if (i >= 5) spans.push_back(now() - began);
      last = i + 1;
    }
    release(*stores[last % 2], "hand-over", "s" + std::to_string(last));
    return median(spans);
  }

  void many() {
    const auto store = open();
    (void)acquire(*store, "warm", "s");
    const std::size_t heap = heap_bytes();
    const Instant began = now();
    int won = 0;
    std::vector<std::unique_ptr<tenure::Watch>> watches;
    std::vector<tenure::Record> records(static_cast<std::size_t>(elections_));
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::string name = "many-" + std::to_string(i);
      watches.push_back(store->watch({name, "s"}, [](const auto&) {}));
      store->acquire(asking(name, "s"), [&won, &records, i](const auto& reply) {
        if (!reply || !reply->ours) return;
        records[i] = *reply->record;
        ++won;
      });
    }
    until([&] { return won == elections_; });
    const double took = milliseconds(now() - began);
    std::printf("%d elections: %.0f ms, %.0f a second", elections_, took, elections_ / took * 1e3);
    pass(std::chrono::seconds(1));
    std::printf(", %.0f bytes of heap each\n",
                static_cast<double>(heap_bytes() - heap) / elections_);
    renew_all(*store, records);
    for (const auto& record : records)
      store->release({record.election, "s"}, [&won](auto) { --won; });
    until([&] { return won == 0; });
  }

  void renew_all(tenure::LeaseStore& store, const std::vector<tenure::Record>& records) {
    const double cpu = cpu_seconds();
    const Instant began = now();
    std::size_t renewed = 0;
    for (const auto& record : records) {
      store.renew({record, std::chrono::seconds(15)}, [&renewed](const auto& reply) {
        if (reply && reply->held) ++renewed;
      });
    }
    until([&] { return renewed == records.size(); });
    std::printf("renewing all of them: %.1f ms, %.1f ms of CPU\n", milliseconds(now() - began),
                (cpu_seconds() - cpu) * 1e3);
  }

  tenure::testkit::ManualExecutor executor_{tenure::system_clock()};
  const tenure::EtcdOptions options_;
  const int rounds_;
  const int elections_;
};

}  // namespace

int main(int argc, char** argv) {
  auto options = tenure::parse_etcd_url(argc > 1 ? argv[1] : "");
  if (!options) {
    std::fprintf(stderr, "usage: etcd_bench URL [ROUNDS] [ELECTIONS]: %s\n",
                 options.error().message.c_str());
    return 64;
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 400;
  const int elections = argc > 3 ? std::atoi(argv[3]) : 10'000;
  if (rounds < 4 || elections < 1) return 64;
  Bench(std::move(*options), rounds, elections).run();
  return 0;
}
