// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/watch_hub.h"

#include <algorithm>
#include <utility>

namespace tenure::sqlite {

class WatchHub::Handle final : public Watch {
 public:
  Handle(std::weak_ptr<WatchHub> hub, std::shared_ptr<Entry> entry)
      : hub_(std::move(hub)), entry_(std::move(entry)) {}

  ~Handle() override {
    entry_->has_ended = true;
    if (const auto hub = hub_.lock()) hub->remove(entry_);
  }

  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  std::weak_ptr<WatchHub> hub_;
  std::shared_ptr<Entry> entry_;
};

std::unique_ptr<Watch> WatchHub::add(WatchRequest request, OnState on_state) {
  auto entry = std::make_shared<Entry>();
  entry->election = std::move(request.election);
  entry->on_state = std::move(on_state);
  entries_.push_back(entry);
  return std::make_unique<Handle>(weak_from_this(), std::move(entry));
}

void WatchHub::remove(const std::shared_ptr<Entry>& entry) { std::erase(entries_, entry); }

bool WatchHub::begin_priming() {
  bool any = false;
  for (const auto& entry : entries_) {
    entry->is_priming = !entry->is_primed;
    any = any || entry->is_priming;
  }
  return any;
}

void WatchHub::deliver(const Observation& seen) {
  if (seen.changed.empty() && !seen.has_present) return;
  // Callbacks may add and remove watches.
  const auto entries = entries_;
  for (const auto& entry : entries) {
    if (entry->is_primed) {
      for (const ElectionState& state : seen.changed) pass(*entry, state);
    } else if (entry->is_priming && seen.has_present) {
      prime(*entry, seen);
    }
  }
}

void WatchHub::pass(Entry& entry, const ElectionState& state) {
  if (entry.has_ended) return;
  if (!entry.election.empty() && entry.election != state.election) return;
  // A copy, because the callback may destroy its own watch, and itself with it.
  const OnState on_state = entry.on_state;
  on_state(state);
}

void WatchHub::prime(Entry& entry, const Observation& seen) {
  entry.is_primed = true;
  if (entry.election.empty()) {
    for (const ElectionState& state : seen.present) pass(entry, state);
    return;
  }
  const auto found = std::lower_bound(
      seen.present.begin(), seen.present.end(), entry.election,
      [](const ElectionState& state, const std::string& name) { return state.election < name; });
  if (found != seen.present.end() && found->election == entry.election) {
    pass(entry, *found);
    return;
  }
  ElectionState nobody;
  nobody.election = entry.election;
  nobody.as_of = seen.as_of;
  pass(entry, nobody);
}

void WatchHub::end(const Error& error) {
  const auto entries = std::exchange(entries_, {});
  for (const auto& entry : entries) {
    if (std::exchange(entry->has_ended, true)) continue;
    const OnState on_state = entry->on_state;
    on_state(tl::unexpected<Error>(error));
  }
}

}  // namespace tenure::sqlite
