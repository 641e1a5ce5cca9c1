// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/view.h"

#include "stores/etcd/keys.h"

#include <algorithm>
#include <utility>

namespace tenure::etcd {

void View::begin(Scope scope) {
  scope_ = scope;
  members_.clear();
  live_.clear();
  head_known_ = false;
  own_head_vanished_ = false;
  read_at_ = 0;
  need_ = Need::soon;
}

void View::watch_election() {
  own_key_.clear();
  own_revision_ = 0;
  begin(Scope::election);
}

void View::watch_place(std::string own_key, Revision own_revision) {
  own_key_ = std::move(own_key);
  own_revision_ = own_revision;
  begin(Scope::place);
}

void View::read(Revision revision, const std::vector<KeyValue>& members, bool complete) {
  if (scope_ == Scope::waiting || revision < as_of_) return;
  members_.clear();
  for (const KeyValue& kv : members) {
    if (is_member(prefix_, kv.key)) members_.emplace(kv.key, kv);
  }
  if (scope_ == Scope::place) keep_what_matters();
  read_at_ = revision;
  as_of_ = revision;
  head_known_ = true;
  own_head_vanished_ = false;
  need_ = complete ? Need::nothing : Need::soon;
}

void View::live(const std::string& key, Revision revision) {
  // A second time: the watch was cut in between, and what it shows now counts as new.
  if (live_.contains(key)) again_ = true;
  live_[key] = revision;
}

void View::event(const WatchEvent& event) {
  if (read_at_ == 0 || event.kv.mod_revision <= read_at_) return;
  if (!is_member(prefix_, event.kv.key)) return;
  as_of_ = std::max(as_of_, event.kv.mod_revision);
  if (event.deleted) {
    remove(event.kv.key);
  } else {
    put(event.kv);
  }
}

void View::put(const KeyValue& kv) {
  const auto known = members_.find(kv.key);
  if (known != members_.end()) {
    known->second = kv;
  } else if (scope_ == Scope::election) {
    members_.emplace(kv.key, kv);
  } else if (kv.key == own_key_) {
    // Born again behind our back: where it stands must be read.
    need_ = Need::soon;
  }
}

void View::remove(const std::string& key) {
  const auto found = members_.find(key);
  if (found == members_.end()) return;
  const KeyValue* const head = oldest();
  const bool was_head = head == &found->second;
  const KeyValue* const before_us = predecessor();
  const bool was_predecessor = before_us == &found->second;
  members_.erase(found);
  if (scope_ == Scope::election) return;
  if (key == own_key_) {
    if (was_head && head_known_) own_head_vanished_ = true;
    head_known_ = head_known_ && !was_head;
    need_ = Need::soon;
  } else if (was_predecessor && !was_head) {
    need_ = Need::soon;
  } else if (was_head && !was_predecessor) {
    head_known_ = false;
    need_ = std::max(need_, Need::eventually);
  }
}

const KeyValue* View::oldest() const noexcept {
  const KeyValue* oldest = nullptr;
  for (const auto& [key, kv] : members_) {
    if (oldest == nullptr || stands_before(kv, *oldest)) oldest = &kv;
  }
  return oldest;
}

const KeyValue* View::predecessor() const noexcept {
  const auto own = members_.find(own_key_);
  if (scope_ != Scope::place || own == members_.end()) return nullptr;
  const KeyValue* newest = nullptr;
  for (const auto& [key, kv] : members_) {
    if (!stands_before(kv, own->second)) continue;
    if (newest == nullptr || stands_before(*newest, kv)) newest = &kv;
  }
  return newest;
}

void View::keep_what_matters() {
  const KeyValue* const head = oldest();
  const KeyValue* const before_us = predecessor();
  std::erase_if(members_, [&](const auto& entry) {
    return entry.first != own_key_ && &entry.second != head && &entry.second != before_us;
  });
}

std::vector<std::string> View::wanted() const {
  if (scope_ == Scope::election) return {prefix_};
  std::vector<std::string> keys;
  if (scope_ == Scope::waiting) return keys;
  keys.push_back(own_key_);
  for (const auto& [key, kv] : members_) {
    if (key != own_key_) keys.push_back(key);
  }
  return keys;
}

View::Need View::need() const noexcept {
  if (scope_ == Scope::waiting) return Need::nothing;
  for (const auto& [key, revision] : live_) {
    const bool matters = key == prefix_ || key == own_key_ || members_.contains(key);
    if (matters && revision > read_at_) return Need::soon;
  }
  return need_;
}

std::optional<View::Sight> View::take() {
  if (read_at_ == 0) return std::nullopt;
  const bool gap = need() == Need::soon;
  if (!head_known_ && !own_head_vanished_) return std::nullopt;
  // Between being cut off and having read again, what is known may be long past.
  if (gap && again_ && told_) return std::nullopt;
  Sight sight;
  sight.as_of = as_of_;
  sight.in_line = !expects_place_ || (scope_ == Scope::place && members_.contains(own_key_));
  Told now{.in_line = sight.in_line};
  const KeyValue* const head = head_known_ ? oldest() : nullptr;
  if (head != nullptr) {
    sight.head = *head;
    now = {head->key, head->create_revision, head->value, head->lease, sight.in_line};
  }
  if (!again_ && told_ == now) return std::nullopt;
  told_ = std::move(now);
  again_ = false;
  return sight;
}

}  // namespace tenure::etcd
