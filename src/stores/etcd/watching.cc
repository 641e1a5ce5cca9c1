// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/watching.h"

#include "stores/etcd/base_watch.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace tenure::etcd {
namespace {

using std::chrono::milliseconds;

// A waiter that is not next may take this long to learn who is.
constexpr Duration kLookAround = milliseconds(300);
// Who leaves a line mostly ends his watch too, or comes back.
constexpr Duration kSettling = milliseconds(20);

class WatchHandle final : public Watch {
 public:
  explicit WatchHandle(std::weak_ptr<BaseWatch> watch) : watch_(std::move(watch)) {}
  ~WatchHandle() override {
    if (const auto watch = watch_.lock()) watch->drop();
  }
  WatchHandle(const WatchHandle&) = delete;
  WatchHandle& operator=(const WatchHandle&) = delete;

 private:
  std::weak_ptr<BaseWatch> watch_;
};

ElectionState to_state(const Core& core, const std::string& election, const View::Sight& sight) {
  ElectionState state;
  state.election = election;
  state.as_of = static_cast<std::uint64_t>(sight.as_of);
  state.in_line = sight.in_line;
  if (sight.head) state.holder = core.record(election, *sight.head);
  return state;
}

}  // namespace

std::vector<Op> place_reads(const Core& core, const Candidate& candidate) {
  Range before = core.members(candidate.election);
  before.order = Range::Order::newest_first;
  before.limit = 1;
  before.max_create_revision = candidate.revision - 1;
  return {Range{.key = candidate.key}, core.head(candidate.election), std::move(before)};
}

std::vector<KeyValue> all_of(const TxnReply& reply) {
  std::vector<KeyValue> all;
  for (const OpReply& op : reply.ops) {
    for (const KeyValue& kv : op.kvs) {
      const bool known = reply.ops.size() > 1 &&
                         std::any_of(all.begin(), all.end(),
                                     [&](const KeyValue& other) { return other.key == kv.key; });
      if (!known) all.push_back(kv);
    }
  }
  return all;
}

OneWatch::OneWatch(Core& core, Watching& watching, Watching::OnState on_state, WatchRequest request)
    : BaseWatch(core, watching, std::move(on_state)),
      request_(std::move(request)),
      view_(core.prefix_of(request_.election), !request_.session.empty()) {}

// Not before an acquire that is asked for together with the watch is known.
void OneWatch::start() {
  core_.executor.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self != nullptr) std::static_pointer_cast<OneWatch>(self)->look_around();
  });
}

void OneWatch::look_around() {
  if (over()) return;
  const auto candidate =
      request_.session.empty() ? nullptr : core_.roster.find(request_.election, request_.session);
  if (candidate != nullptr && candidate->revision != 0) {
    if (view_.scope() == View::Scope::place && view_.own_key() == candidate->key &&
        view_.own_revision() == candidate->revision) {
      return;
    }
    forget_reads();
    view_.watch_place(candidate->key, candidate->revision);
  } else if (candidate == nullptr || !candidate->busy) {
    if (view_.scope() == View::Scope::election) return;
    forget_reads();
    view_.watch_election();
  }
  step();
}

void OneWatch::placed(const Candidate& candidate, Revision revision,
                      const std::vector<KeyValue>& seen, bool complete) {
  if (over()) return;
  if (view_.scope() != View::Scope::place || view_.own_key() != candidate.key ||
      view_.own_revision() != candidate.revision) {
    forget_reads();
    view_.watch_place(candidate.key, candidate.revision);
  }
  view_.read(revision, seen, complete);
  step();
}

void OneWatch::on_live(const std::string& key, Revision revision) {
  view_.live(key, revision);
  step();
}

void OneWatch::on_event(const WatchEvent& event) {
  view_.event(event);
  step();
}

std::vector<Op> OneWatch::reads() const {
  if (view_.scope() == View::Scope::election) return {core_.members(request_.election)};
  Candidate place;
  place.election = request_.election;
  place.key = view_.own_key();
  place.revision = view_.own_revision();
  return place_reads(core_, place);
}

void OneWatch::on_read(const TxnReply& reply) {
  const auto seen = all_of(reply);
  const bool nested = std::any_of(seen.begin(), seen.end(), [&](const KeyValue& kv) {
    return !is_member(view_.prefix(), kv.key);
  });
  if (nested && view_.scope() == View::Scope::place) {
    // Keys of nested names were the oldest or the nearest: only all of them tell.
    Txn txn;
    txn.then = {core_.members(request_.election)};
    core_.reads.add(std::move(txn), {}, kNever, [weak = weak_from_this()](const auto& all) {
      const auto self = std::static_pointer_cast<OneWatch>(weak.lock());
      if (self == nullptr || self->over()) return;
      if (!all) return self->read_later(kLookAround);
      self->view_.read(all->header.revision, all_of(*all));
      self->step();
    });
    return;
  }
  view_.read(reply.header.revision, seen);
  step();
}

void OneWatch::step() {
  watch_keys(view_.wanted(), view_.prefix());
  while (const auto sight = view_.take()) tell(to_state(core_, request_.election, *sight));
  switch (view_.need()) {
    case View::Need::soon:
      read();
      break;
    case View::Need::eventually:
      read_later(kLookAround);
      break;
    case View::Need::nothing:
      break;
  }
}

std::unique_ptr<Watch> Watching::start(const std::shared_ptr<BaseWatch>& watch) {
  watches_.emplace(watch.get(), watch);
  core_.executor.post([weak = std::weak_ptr(watch)] {
    if (const auto started = weak.lock()) started->start();
  });
  return std::make_unique<WatchHandle>(watch);
}

std::unique_ptr<Watch> Watching::watch(WatchRequest request, OnState on_state) {
  if (request.election.empty()) {
    return start(std::make_shared<AllWatch>(core_, *this, std::move(on_state)));
  }
  auto watch = std::make_shared<OneWatch>(core_, *this, std::move(on_state), std::move(request));
  if (!watch->request().session.empty()) {
    by_election_[watch->request().election].push_back(watch);
  }
  return start(watch);
}

std::unique_ptr<Watch> Watching::refused(OnState on_state, Error error) {
  auto watch = std::make_shared<AllWatch>(core_, *this, std::move(on_state));
  core_.executor.post([watch = std::weak_ptr(watch), error = std::move(error)] {
    if (const auto refused = watch.lock()) refused->end(error);
  });
  watches_.emplace(watch.get(), watch);
  return std::make_unique<WatchHandle>(watch);
}

void Watching::placed(const CandidatePtr& candidate, Revision revision,
                      const std::vector<KeyValue>& seen, bool complete) {
  const auto found = by_election_.find(candidate->election);
  if (found == by_election_.end()) return;
  const auto watches = found->second;
  for (const auto& watch : watches) {
    if (watch->request().session == candidate->session) {
      watch->placed(*candidate, revision, seen, complete);
    }
  }
}

void Watching::changed(const std::string& election) {
  if (core_.closed || !by_election_.contains(election)) return;
  changed_.insert(election);
  if (changed_timer_ != nullptr) return;
  changed_timer_ =
      core_.executor.at(saturating_add(core_.now(), kSettling), [this] { look_at_changed(); });
}

void Watching::look_at_changed() {
  changed_timer_ = nullptr;
  for (const std::string& election : std::exchange(changed_, {})) {
    const auto found = by_election_.find(election);
    if (found == by_election_.end()) continue;
    const auto watches = found->second;
    for (const auto& watch : watches) watch->look_around();
  }
}

void Watching::forget(const BaseWatch* watch) {
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  const auto kept = found->second;
  watches_.erase(found);
  const auto one = std::dynamic_pointer_cast<OneWatch>(kept);
  if (one == nullptr) return;
  const auto entry = by_election_.find(one->request().election);
  if (entry == by_election_.end()) return;
  std::erase(entry->second, one);
  if (entry->second.empty()) by_election_.erase(entry);
}

void Watching::close(const Error& error) {
  changed_timer_ = nullptr;
  for (const auto& [key, watch] : std::unordered_map(watches_)) watch->end(error);
}

}  // namespace tenure::etcd
