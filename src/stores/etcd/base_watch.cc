// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/base_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tenure::etcd {
namespace {

using std::chrono::milliseconds;

constexpr Duration kFirstRetry = milliseconds(100);
constexpr unsigned kMostDoublings = 4;

bool ends_watches(Errc code) noexcept {
  return code != Errc::unavailable && code != Errc::outcome_unknown && code != Errc::closed;
}

Duration spread(Executor& executor, Duration at_most) {
  return scale(at_most, static_cast<double>(executor.random() >> 11U) * 0x1p-53);
}

}  // namespace

class BaseWatch::Ear final : public KeyListener {
 public:
  Ear(BaseWatch& owner, std::string key) : owner_(owner), key_(std::move(key)) {}

  void listen(const std::string& from, std::string end) {
    subscription_ = owner_.core_.cluster->watch(from, std::move(end), *this);
  }
  void stop() { subscription_ = nullptr; }

  void on_live(Revision revision) override {
    const auto owner = owner_.shared_from_this();
    owner->on_live(key_, revision);
    owner->removed_.clear();
  }
  void on_event(const WatchEvent& event) override {
    const auto owner = owner_.shared_from_this();
    owner->on_event(event);
    owner->removed_.clear();
  }
  void on_refused(const Error& error) override {
    const auto owner = owner_.shared_from_this();
    owner->end(error);
    owner->removed_.clear();
  }

 private:
  BaseWatch& owner_;
  const std::string key_;
  std::unique_ptr<Subscription> subscription_;
};

BaseWatch::BaseWatch(Core& core, Watching& watching, Watching::OnState on_state)
    : core_(core), watching_(watching), on_state_(std::move(on_state)) {}

BaseWatch::~BaseWatch() = default;

void BaseWatch::watch_keys(const std::vector<std::string>& keys, const std::string& prefix) {
  if (over()) return;
  for (auto it = ears_.begin(); it != ears_.end();) {
    if (std::find(keys.begin(), keys.end(), it->first) != keys.end()) {
      ++it;
      continue;
    }
    // It may be the one that is speaking.
    it->second->stop();
    removed_.push_back(std::move(it->second));
    it = ears_.erase(it);
  }
  for (const std::string& key : keys) {
    if (ears_.contains(key)) continue;
    Ear& ear = *ears_.emplace(key, std::make_unique<Ear>(*this, key)).first->second;
    if (key != prefix) {
      ear.listen(key, {});
    } else {
      ear.listen(key.empty() ? std::string(1, '\0') : key, end_of_prefix(key));
    }
  }
}

void BaseWatch::tell(ElectionState state) {
  if (!on_state_) return;
  auto on_state = std::exchange(on_state_, nullptr);
  telling_ = true;
  on_state(std::move(state));
  if (std::exchange(telling_, false)) on_state_ = std::move(on_state);
}

void BaseWatch::end(const Error& error) {
  const auto self = shared_from_this();
  auto on_state = std::exchange(on_state_, nullptr);
  drop();
  if (on_state) on_state(tl::unexpected(error));
}

void BaseWatch::drop() {
  const auto self = shared_from_this();
  telling_ = false;
  on_state_ = nullptr;
  timer_ = nullptr;
  ++scope_;
  for (auto& [key, ear] : ears_) {
    ear->stop();
    removed_.push_back(std::move(ear));
  }
  ears_.clear();
  watching_.forget(this);
}

void BaseWatch::read() {
  timer_ = nullptr;
  if (reading_ || over()) return;
  reading_ = true;
  Txn txn;
  txn.then = reads();
  core_.reads.add(std::move(txn), {}, kNever,
                  [weak = weak_from_this(), scope = scope_](const Result<TxnReply>& reply) {
                    const auto self = weak.lock();
                    if (self == nullptr || self->over() || self->scope_ != scope) return;
                    self->reading_ = false;
                    if (!reply) return self->read_failed(reply.error());
                    self->failures_ = 0;
                    self->on_read(*reply);
                  });
}

void BaseWatch::read_later(Duration at_most) {
  if (reading_ || timer_ != nullptr || over()) return;
  timer_ = core_.executor.at(saturating_add(core_.now(), spread(core_.executor, at_most)),
                             [this] { read(); });
}

void BaseWatch::read_failed(const Error& error) {
  if (ends_watches(error.code)) return end(error);
  if (error.code == Errc::closed) return;
  read_later(kFirstRetry * (1U << std::min(failures_++, kMostDoublings)));
}

}  // namespace tenure::etcd
