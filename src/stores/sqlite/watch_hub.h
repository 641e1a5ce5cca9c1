// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/store.h>

#include <functional>
#include <memory>
#include <vector>

#include "stores/sqlite/observer.h"

namespace tenure::sqlite {

/// The watches of one store object. A callback may destroy any watch, or the store.
///
/// Thread-safety: everything on the loop.
class WatchHub : public std::enable_shared_from_this<WatchHub> {
 public:
  using OnState = std::function<void(Result<ElectionState>)>;

  [[nodiscard]] std::unique_ptr<Watch> add(WatchRequest request, OnState on_state);

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

  /// Whether a watch waits for its first state. If so, ask for the present states: those that wait
  /// now will get them from the next deliver() that has them.
  [[nodiscard]] bool begin_priming();

  void deliver(const Observation& seen);

  /// Ends every watch with an error.
  void end(const Error& error);

 private:
  struct Entry {
    std::string election;
    OnState on_state;
    bool is_primed = false;
    bool is_priming = false;
    bool has_ended = false;
  };
  class Handle;

  void remove(const std::shared_ptr<Entry>& entry);
  static void prime(Entry& entry, const Observation& seen);
  static void pass(Entry& entry, const ElectionState& state);

  std::vector<std::shared_ptr<Entry>> entries_;
};

}  // namespace tenure::sqlite
