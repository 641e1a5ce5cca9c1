// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0

/// What Leadership::held() costs, beside one read of CLOCK_BOOTTIME in the same run: at most 1.5
/// times that, or the exit status is 1. Usage: held [ROUNDS]
#include <tenure/leadership.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

namespace {

constexpr int kCalls = 200'000;
constexpr double kMostTimesAClockRead = 1.5;

double nanoseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Nanoseconds that one call takes. The sum keeps the compiler from leaving calls out.
template <class Call>
double measure(Call call, unsigned long& sum) {
  const double before = nanoseconds();
  for (int i = 0; i < kCalls; ++i) sum += call();
  return (nanoseconds() - before) / kCalls;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 101;
  if (rounds < 1) {
    std::fprintf(stderr, "held: ROUNDS is a number from 1 on\n");
    return 64;
  }
  auto term = std::make_shared<tenure::detail::Term>(tenure::system_clock(), 1);
  term->deadline_ns.store(tenure::kNever.time_since_epoch().count());
  const tenure::Leadership leadership(std::move(term));

  std::vector<double> reads;
  std::vector<double> asked;
  std::vector<double> ratios;
  unsigned long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    // Side by side, so that a change of the machine's speed meets both.
    reads.push_back(measure(
        [] {
          timespec now{};
          ::clock_gettime(CLOCK_BOOTTIME, &now);
          return static_cast<unsigned long>(now.tv_nsec);
        },
        sum));
    asked.push_back(measure([&leadership] { return leadership.held() ? 1UL : 0UL; }, sum));
    ratios.push_back(asked.back() / reads.back());
  }
  const double ratio = median(ratios);
  std::printf("clock_gettime(CLOCK_BOOTTIME)  %6.1f ns\n", median(reads));
  std::printf("Leadership::held()             %6.1f ns\n", median(asked));
  std::printf(
      "ratio                          %6.2f   (median of %d rounds of %d calls; limit %.1f)\n",
      ratio, rounds, kCalls, kMostTimesAClockRead);
  return sum != 0 && ratio <= kMostTimesAClockRead ? 0 : 1;
}
