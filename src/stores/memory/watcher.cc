// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/memory/watcher.h"

#include <algorithm>
#include <utility>

namespace tenure::memory {
namespace {

// Whether a watcher that knows `told` has nothing to learn from `now`.
bool same(const ElectionState& told, const ElectionState& now) {
  if (told.in_line != now.in_line || told.holder.has_value() != now.holder.has_value()) {
    return false;
  }
  return !now.holder || (told.holder->session == now.holder->session &&
                         told.holder->revision == now.holder->revision &&
                         told.holder->renewal == now.holder->renewal);
}

}  // namespace

class WatchHub::Handle final : public Watch {
 public:
  Handle(std::weak_ptr<WatchHub> hub, std::shared_ptr<Watcher> watcher)
      : hub_(std::move(hub)), watcher_(std::move(watcher)) {}

  ~Handle() override {
    watcher_->alive = false;
    if (const auto hub = hub_.lock()) std::erase(hub->watchers_, watcher_);
  }

  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  std::weak_ptr<WatchHub> hub_;
  std::shared_ptr<Watcher> watcher_;
};

void WatchHub::leave() {
  backend_->leave(client_);
  timer_.reset();
}

std::unique_ptr<Watch> WatchHub::watch(WatchRequest request,
                                       std::function<void(Result<ElectionState>)> on_state,
                                       std::optional<Error> refusal) {
  auto watcher = std::make_shared<Watcher>();
  watcher->request = std::move(request);
  watcher->on_state = std::move(on_state);
  watcher->refused = refusal.has_value();
  watcher->end = std::move(refusal);
  watchers_.push_back(watcher);
  post_tell(watcher);
  return std::make_unique<Handle>(weak_from_this(), std::move(watcher));
}

void WatchHub::end_all(const Error& error) {
  for (const auto& watcher : watchers_) {
    if (watcher->end) continue;
    watcher->end = error;
    post_tell(watcher);
  }
}

Duration WatchHub::ahead() const {
  return saturating_between(backend_->clock().now(), executor_.clock().now());
}

void WatchHub::localize(Record& record) const {
  record.acquired_at = saturating_add(record.acquired_at, ahead());
  record.expires_at = saturating_add(record.expires_at, ahead());
}

void WatchHub::on_change(const std::set<std::string>& elections) {
  const std::lock_guard lock(mutex_);
  const bool posted = !changes_.empty();
  changes_.insert(elections.begin(), elections.end());
  if (posted) return;
  executor_.post([weak = weak_from_this()] {
    if (const auto hub = weak.lock()) hub->tell_changes();
  });
}

void WatchHub::on_expiry(Instant when) {
  const std::lock_guard lock(mutex_);
  if (when >= armed_for_) return;
  armed_for_ = when;
  executor_.post([weak = weak_from_this()] {
    if (const auto hub = weak.lock()) hub->arm();
  });
}

void WatchHub::arm() {
  const std::lock_guard lock(mutex_);
  timer_ = executor_.at(saturating_add(armed_for_, ahead()), [weak = weak_from_this()] {
    const auto hub = weak.lock();
    if (hub == nullptr) return;
    {
      const std::lock_guard inner(hub->mutex_);
      hub->armed_for_ = kNever;
    }
    // Calls on_expiry() with what comes next.
    hub->backend_->expire();
  });
}

void WatchHub::post_tell(const std::shared_ptr<Watcher>& watcher) {
  // Holds the hub itself: a watch whose store is destroyed must still hear of its end.
  executor_.post([hub = shared_from_this(), watcher] { hub->tell(*watcher, nullptr); });
}

void WatchHub::tell_changes() {
  std::set<std::string> changes;
  {
    const std::lock_guard lock(mutex_);
    changes.swap(changes_);
  }
  const auto watchers = watchers_;
  for (const auto& watcher : watchers) tell(*watcher, &changes);
}

void WatchHub::tell(Watcher& watcher, const std::set<std::string>* only) {
  if (!watcher.refused) {
    const std::string& election = watcher.request.election;
    if (!election.empty()) {
      if (only == nullptr || only->count(election) != 0) tell_one(watcher, election);
    } else if (only != nullptr) {
      for (const std::string& name : *only) tell_one(watcher, name);
    } else {
      for (const std::string& name : backend_->names()) tell_one(watcher, name);
    }
  }
  if (!watcher.alive || !watcher.end) return;
  watcher.alive = false;
  watcher.on_state(tl::unexpected(*watcher.end));
}

void WatchHub::tell_one(Watcher& watcher, const std::string& election) {
  if (!watcher.alive) return;
  ElectionState now = backend_->state(election, watcher.request.session);
  const auto told = watcher.told.find(election);
  if (told != watcher.told.end() && same(told->second, now)) return;
  if (now.holder) localize(*now.holder);
  watcher.told.insert_or_assign(election, now);
  watcher.on_state(std::move(now));
}

}  // namespace tenure::memory
