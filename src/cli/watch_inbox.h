// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/store.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace tenure::cli {

// States from the library's loop for the thread that shows them, with a descriptor to wait for.
class WatchInbox {
 public:
  // What waits for a reader who stalls; beyond that a newer state of an election takes the place of
  // one that waits.
  static constexpr std::size_t kMostStates = 1000;

  WatchInbox();
  WatchInbox(const WatchInbox&) = delete;
  WatchInbox& operator=(const WatchInbox&) = delete;
  ~WatchInbox();

  // Readable while there is something to take; negative where there is no descriptor left.
  [[nodiscard]] int bell() const noexcept { return bell_; }

  void put(Result<ElectionState> state);
  // The elections that are there at the start. An error of the list is as one of the watch.
  void put_list(const Result<std::vector<ElectionState>>& list);

  [[nodiscard]] std::deque<Result<ElectionState>> take();

  [[nodiscard]] bool is_listed() const noexcept { return listed_; }
  // Only when is_listed().
  [[nodiscard]] const std::vector<std::string>& listed_names() const noexcept { return names_; }

 private:
  const int bell_;
  std::mutex mutex_;
  std::deque<Result<ElectionState>> states_;
  std::vector<std::string> names_;  // written before listed_ is set, then left alone
  std::atomic<bool> listed_{false};
};

}  // namespace tenure::cli
