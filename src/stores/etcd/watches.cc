// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/watches.h"

#include "stores/etcd/codec.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tenure::etcd {

class Watches::Handle final : public Subscription {
 public:
  Handle(std::weak_ptr<Watches*> watches, std::int64_t id)
      : watches_(std::move(watches)), id_(id) {}
  ~Handle() override {
    if (const auto watches = watches_.lock()) (*watches)->remove(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  std::weak_ptr<Watches*> watches_;
  std::int64_t id_;
};

Watches::Watches(Connector& connector, Executor& executor)
    : connector_(connector), executor_(executor), self_(std::make_shared<Watches*>(this)) {}

Watches::~Watches() = default;

std::unique_ptr<Subscription> Watches::add(std::string key, std::string end,
                                           KeyListener& listener) {
  const std::int64_t id = next_id_++;
  Watched& watched =
      watched_.emplace(id, Watched{std::move(key), std::move(end), &listener}).first->second;
  if (stream_ == nullptr) {
    if (connector_.channel() != nullptr) open();
  } else if (one_by_one_) {
    to_create_.push_back(id);
    create_next();
  } else {
    create(id, watched);
  }
  return std::make_unique<Handle>(self_, id);
}

void Watches::open() {
  generation_ = connector_.generation();
  asked_ = 0;
  to_create_.clear();
  stream_ = connector_.channel()->open(
      codec::kWatch, connector_.metadata(), [this](const std::string& bytes) { on_message(bytes); },
      [this](const RpcStatus& status) {
        executor_.post([stream = std::shared_ptr<Stream>(std::move(stream_))] {});
        const Fault fault = classify(status, Kind::read, connector_.endpoint());
        if (fault.cure == Cure::authenticate) return connector_.distrust(generation_, fault.error);
        connector_.lose(generation_, fault.error);
      });
  for (auto& [id, watched] : watched_) {
    watched.state = State::waiting;
    if (one_by_one_) {
      to_create_.push_back(id);
    } else {
      create(id, watched);
    }
  }
  create_next();
}

void Watches::create(std::int64_t id, Watched& watched) {
  watched.state = State::asked;
  ++asked_;
  stream_->write(codec::encode_watch(watched.key, watched.end, id));
}

void Watches::create_next() {
  while (asked_ == 0 && !to_create_.empty()) {
    const std::int64_t id = to_create_.front();
    to_create_.pop_front();
    const auto found = watched_.find(id);
    if (found != watched_.end()) create(id, found->second);
  }
  if (to_create_.empty() && asked_ == 0) one_by_one_ = false;
}

void Watches::remove(std::int64_t id) {
  const auto found = watched_.find(id);
  if (found == watched_.end()) return;
  const bool known = found->second.state != State::waiting;
  watched_.erase(found);
  if (stream_ != nullptr && known) stream_->write(codec::encode_unwatch(id));
}

void Watches::on_message(const std::string& bytes) {
  const auto answer = codec::decode_watch(bytes);
  connector_.heard(false);
  if (!answer) return;
  if (answer->created) {
    if (asked_ > 0) --asked_;
    if (answer->canceled) {
      on_refusal(answer->reason);
    } else {
      on_created(answer->watch_id, answer->revision);
    }
    if (stream_ != nullptr) create_next();
    return;
  }
  if (answer->canceled) return on_canceled(answer->watch_id, answer->reason);
  for (const WatchEvent& event : answer->events) {
    const auto found = watched_.find(answer->watch_id);
    if (found == watched_.end()) return;
    found->second.listener->on_event(event);
  }
}

void Watches::on_created(std::int64_t id, Revision revision) {
  const auto found = watched_.find(id);
  if (found == watched_.end() || found->second.state != State::asked) return;
  found->second.state = State::live;
  found->second.listener->on_live(revision);
}

void Watches::on_refusal(const std::string& reason) {
  const Fault fault = classify({2, reason}, Kind::read, connector_.endpoint());
  if (fault.cure == Cure::authenticate) return connector_.distrust(generation_, fault.error);
  if (!one_by_one_) {
    one_by_one_ = true;
    return begin_anew();
  }
  const auto asked = std::find_if(watched_.begin(), watched_.end(), [](const auto& entry) {
    return entry.second.state == State::asked;
  });
  if (asked != watched_.end()) refuse(asked->first, fault.error);
}

void Watches::on_canceled(std::int64_t id, const std::string& reason) {
  const auto found = watched_.find(id);
  if (found == watched_.end() || found->second.state != State::live) return;
  if (!reason.empty()) {
    const Fault fault = classify({2, reason}, Kind::read, connector_.endpoint());
    if (fault.error.code != Errc::unavailable) return refuse(id, fault.error);
  }
  // It had fallen behind what was compacted; the server has forgotten it, and its id is free.
  create(id, found->second);
}

void Watches::refuse(std::int64_t id, const Error& error) {
  const auto found = watched_.find(id);
  if (found == watched_.end()) return;
  KeyListener* const listener = found->second.listener;
  watched_.erase(found);
  listener->on_refused(error);
}

void Watches::begin_anew() {
  executor_.post([stream = std::shared_ptr<Stream>(std::move(stream_))] {});
  if (connector_.channel() != nullptr) open();
}

void Watches::on_ready() {
  stream_ = nullptr;
  if (!watched_.empty()) open();
}

void Watches::on_lost() {
  stream_ = nullptr;
  for (auto& [id, watched] : watched_) watched.state = State::waiting;
}

void Watches::on_refused(const Error& error) {
  on_lost();
  std::vector<std::int64_t> all;
  for (const auto& [id, watched] : watched_) all.push_back(id);
  for (const std::int64_t id : all) refuse(id, error);
}

}  // namespace tenure::etcd
