// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace tenure::runtime {

/// Tells the processor that this thread only waits.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A lock whose word also counts its releases, so that one look at it answers two questions: is
/// somebody inside, and has anybody been inside since I looked last? All accesses are sequentially
/// consistent: what was published before a look at the word is seen by whoever locks after it.
class LeaseLock {
 public:
  using Word = std::uint32_t;

  [[nodiscard]] Word word() const noexcept { return word_.load(); }
  [[nodiscard]] static bool held(Word word) noexcept { return (word & kHeld) != 0; }

  [[nodiscard]] bool try_lock() noexcept {
    Word word = word_.load(std::memory_order_relaxed);
    return !held(word) && word_.compare_exchange_strong(word, word | kHeld);
  }

  void lock() noexcept {
    for (int i = 0; i < kSpins; ++i) {
      if (try_lock()) return;
      pause_briefly();
    }
    lock_slowly();
  }

  /// Returns the word as it left it.
  Word unlock() noexcept {
    const Word freed = (word_.load(std::memory_order_relaxed) | (kHeld | kWaiters)) + 1;
    if ((word_.exchange(freed) & kWaiters) != 0) word_.notify_one();
    return freed;
  }

 private:
  static constexpr Word kHeld = 1;
  static constexpr Word kWaiters = 2;
  static constexpr int kSpins = 100;

  void lock_slowly() noexcept {
    for (;;) {
      Word word = word_.load();
      if (!held(word)) {
        // Whoever has waited cannot know whether others still do.
        if (word_.compare_exchange_weak(word, word | kHeld | kWaiters)) return;
      } else if ((word & kWaiters) != 0 || word_.compare_exchange_weak(word, word | kWaiters)) {
        word_.wait(word | kWaiters);
      }
    }
  }

  std::atomic<Word> word_{0};
};

}  // namespace tenure::runtime
