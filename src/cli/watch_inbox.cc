// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/watch_inbox.h"

#include <algorithm>
#include <iterator>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace tenure::cli {

WatchInbox::WatchInbox() : bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WatchInbox::~WatchInbox() {
  if (bell_ >= 0) close(bell_);
}

void WatchInbox::put(Result<ElectionState> state) {
  const auto same = [&state](const Result<ElectionState>& other) {
    return other.has_value() == state.has_value() && (!state || other->election == state->election);
  };
  {
    const std::lock_guard lock(mutex_);
    if (states_.size() >= kMostStates) {
      const auto older = std::find_if(states_.rbegin(), states_.rend(), same);
      if (older != states_.rend()) states_.erase(std::prev(older.base()));
    }
    states_.push_back(std::move(state));
  }
  eventfd_write(bell_, 1);
}

void WatchInbox::put_list(const Result<std::vector<ElectionState>>& list) {
  if (!list) return put(tl::unexpected(list.error()));
  for (const ElectionState& state : *list) names_.push_back(state.election);
  listed_ = true;
  eventfd_write(bell_, 1);
}

std::deque<Result<ElectionState>> WatchInbox::take() {
  eventfd_t rung = 0;
  eventfd_read(bell_, &rung);
  const std::lock_guard lock(mutex_);
  return std::exchange(states_, {});
}

}  // namespace tenure::cli
