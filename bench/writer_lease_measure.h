// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tenure::bench {

/// How often a set of keys is gone through in one measurement.
inline std::size_t rounds_for(std::size_t keys) {
  return std::max<std::size_t>(1, 1'000'000 / keys);
}

/// What one measurement is made of. All but `prepare` is timed, from the instant at which all
/// producers are ready to that at which the last has finished.
struct Steps {
  std::function<void()>
      prepare;  // by one thread, before each round; empty: rounds are timed as one
  std::function<void(std::string_view)> each;
  std::function<void(std::span<const std::string>)> all;         // instead of each
  std::function<void(std::size_t)> finish = [](std::size_t) {};  // by each, told the round
};

/// Splits the keys among threads. Millions of keys a second over all rounds.
inline double in_parallel(const std::vector<std::string>& keys, std::size_t producers,
                          const Steps& steps) {
  const std::size_t rounds = rounds_for(keys.size());
  std::array<std::chrono::steady_clock::time_point, 2> times;
  std::size_t phase = 0;
  double spent = 0;
  const auto note = [&]() noexcept {
    times[phase % 2] = std::chrono::steady_clock::now();
    if (++phase % 2 == 0) spent += std::chrono::duration<double>(times[1] - times[0]).count();
  };
  std::barrier gate(static_cast<std::ptrdiff_t>(producers), note);
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      const std::size_t from = keys.size() * p / producers;
      const std::size_t to = keys.size() * (p + 1) / producers;
      for (std::size_t round = 1; round <= rounds; ++round) {
        if (p == 0 && steps.prepare) steps.prepare();
        if (round == 1 || steps.prepare) gate.arrive_and_wait();
        if (steps.all) {
          steps.all(std::span(keys).subspan(from, to - from));
        } else {
          for (std::size_t i = from; i < to; ++i) steps.each(keys[i]);
        }
        steps.finish(round);
        if (round == rounds || steps.prepare) gate.arrive_and_wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(keys.size() * rounds) / spent / 1e6;
}

/// The median of several measurements, printed.
inline void print_median(bool quick, const std::function<double()>& measure) {
  std::vector<double> figures;
  for (int i = 0; i < (quick ? 3 : 7); ++i) figures.push_back(measure());
  std::sort(figures.begin(), figures.end());
  std::printf("  %5.2f", figures[figures.size() / 2]);
  std::fflush(stdout);
}

}  // namespace tenure::bench
