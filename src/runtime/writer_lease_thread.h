// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace tenure::runtime {

class WriterLeaseEngine;

/// Marks this thread, as long as it is there, as one that runs work of an engine. A chain: work of
/// one lease may poll another, or its own once more.
class OnThread {
 public:
  explicit OnThread(const WriterLeaseEngine* engine) noexcept
      : engine_(engine), outer_(std::exchange(innermost, this)) {}
  ~OnThread() { innermost = outer_; }
  OnThread(const OnThread&) = delete;
  OnThread& operator=(const OnThread&) = delete;

  [[nodiscard]] static bool is_of(const WriterLeaseEngine* engine) noexcept {
    for (const OnThread* at = innermost; at != nullptr; at = at->outer_) {
      if (at->engine_ == engine) return true;
    }
    return false;
  }

  /// Whether a piece of work runs under this mark.
  void set_running(bool running) noexcept { running_ = running; }

  /// The pieces of an engine that run on this thread, whose ends a stop() on it must not wait for.
  /// Each is counted by one stop() at a time, though stops may be nested as pieces are.
  class Excused {
   public:
    explicit Excused(const WriterLeaseEngine* engine) noexcept {
      for (OnThread* at = innermost; at != nullptr; at = at->outer_) {
        if (at->engine_ != engine || !at->running_ || at->excused_by_ != nullptr) continue;
        at->excused_by_ = this;
        ++count_;
      }
    }
    ~Excused() {
      for (OnThread* at = innermost; at != nullptr; at = at->outer_) {
        if (at->excused_by_ == this) at->excused_by_ = nullptr;
      }
    }
    Excused(const Excused&) = delete;
    Excused& operator=(const Excused&) = delete;

    [[nodiscard]] std::size_t count() const noexcept { return count_; }

   private:
    std::size_t count_ = 0;
  };

 private:
  static inline thread_local OnThread* innermost = nullptr;
  const WriterLeaseEngine* engine_;
  OnThread* outer_;
  bool running_ = false;
  const Excused* excused_by_ = nullptr;
};

}  // namespace tenure::runtime
