// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/keep_alives.h"

#include "stores/etcd/codec.h"

#include <algorithm>
#include <utility>

namespace tenure::etcd {

void KeepAlives::send(LeaseId id, Instant limit, Done<LeaseReply> done) {
  auto request = std::make_shared<Request>();
  request->id = id;
  request->limit = limit;
  request->done = std::move(done);
  request->end = executor_.at(limit, [this, request] { expire(request); });
  requests_.push_back(request);
  if (connector_.channel() == nullptr) return;
  if (stream_ == nullptr) return renew_stream();
  write(request);
}

void KeepAlives::open() {
  generation_ = connector_.generation();
  stream_ = connector_.channel()->open(
      codec::kKeepAlive, connector_.metadata(),
      [this](const std::string& bytes) { on_message(bytes); },
      [this](const RpcStatus& status) { on_end(status); });
}

void KeepAlives::write(const RequestPtr& request) {
  request->sent_at = executor_.clock().now();
  const Duration half = saturating_between(request->sent_at, request->limit) / 2;
  request->half =
      executor_.at(saturating_add(request->sent_at, half), [this, request] { half_over(request); });
  stream_->write(codec::encode_keep_alive(request->id));
}

void KeepAlives::drop_given_up() {
  std::erase_if(requests_, [](const RequestPtr& request) { return !request->done; });
}

void KeepAlives::renew_stream() {
  stream_ = nullptr;
  drop_given_up();
  if (connector_.channel() == nullptr) return;
  open();
  for (const RequestPtr& request : requests_) write(request);
}

void KeepAlives::on_message(const std::string& bytes) {
  const auto answer = codec::decode_keep_alive(bytes);
  connector_.heard(true);
  if (!answer) return;
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const auto& request) { return request->id == answer->id; });
  if (found == requests_.end()) return;
  const RequestPtr request = *found;
  requests_.erase(found);
  request->half = nullptr;
  request->end = nullptr;
  LeaseReply reply = answer->reply;
  reply.sent_at = request->sent_at;
  if (auto done = std::exchange(request->done, nullptr)) done(reply);
}

void KeepAlives::on_end(const RpcStatus& status) {
  // This is the stream's own call.
  executor_.post([stream = std::shared_ptr<Stream>(std::move(stream_))] {});
  drop_given_up();
  const Fault fault = classify(status, Kind::read, connector_.endpoint());
  if (fault.cure == Cure::authenticate) return connector_.distrust(generation_, fault.error);
  if (!requests_.empty()) connector_.lose(generation_, fault.error);
}

void KeepAlives::half_over(const RequestPtr& request) {
  const auto timer = std::move(request->half);
  if (!request->done || stream_ == nullptr) return;
  const std::uint64_t generation = connector_.generation();
  connector_.silent(generation, request->sent_at);
  // A leader that is slow to renew one lease holds up the whole stream.
  if (connector_.channel() != nullptr && connector_.generation() == generation) renew_stream();
}

void KeepAlives::expire(const RequestPtr& request) {
  const auto timer = std::move(request->end);
  const bool sent = stream_ != nullptr;
  auto done = std::exchange(request->done, nullptr);
  request->half = nullptr;
  if (!sent) drop_given_up();
  if (!done) return;
  // It may have been handled, but to prolong a lease changes nothing that anyone could see.
  done(fail(Errc::unavailable,
            sent ? "etcd did not answer a keepalive in time"
                 : "no connection to etcd in time: " + connector_.trouble().message));
}

void KeepAlives::on_ready() {
  if (stream_ != nullptr || !requests_.empty()) renew_stream();
}

void KeepAlives::on_lost() {
  stream_ = nullptr;
  drop_given_up();
  for (const RequestPtr& request : requests_) request->half = nullptr;
}

void KeepAlives::on_refused(const Error& error) {
  on_lost();
  for (const RequestPtr& request : std::exchange(requests_, {})) {
    request->end = nullptr;
    if (auto done = std::exchange(request->done, nullptr)) done(tl::unexpected(error));
  }
}

}  // namespace tenure::etcd
