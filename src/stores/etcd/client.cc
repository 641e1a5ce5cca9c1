// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/client.h"

#include "stores/etcd/codec.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tenure::etcd {
namespace {

Error closed_error() { return {Errc::closed, "the etcd store is closed"}; }

Error late(const Error& trouble, const std::string& what) {
  return {trouble.code == Errc::unavailable ? Errc::unavailable : trouble.code,
          what + ": " + trouble.message};
}

bool is_read_only(const Txn& txn) {
  const auto reads = [](const Op& op) { return std::holds_alternative<Range>(op); };
  return std::all_of(txn.then.begin(), txn.then.end(), reads) &&
         std::all_of(txn.otherwise.begin(), txn.otherwise.end(), reads);
}

template <class T>
Result<T> decoded(std::optional<T> value) {
  if (value) return std::move(*value);
  return fail(Errc::corrupt, "the answer is not what etcd's v3 API says");
}

}  // namespace

Client::Client(EtcdOptions options, Executor& executor, Connector::Open open)
    : executor_(executor),
      request_timeout_(options.request_timeout),
      mailbox_(std::make_shared<Mailbox>(executor)),
      connector_(std::move(options), executor, mailbox_, std::move(open), *this),
      keep_alives_(connector_, executor),
      watches_(connector_, executor) {}

Client::~Client() { mailbox_->close(); }

Instant Client::bounded(Instant limit) const {
  return std::min(limit, saturating_add(executor_.clock().now(), request_timeout_));
}

void Client::txn(Txn txn, Instant limit, Done<TxnReply> done) {
  const Kind kind = is_read_only(txn) ? Kind::read : Kind::write;
  submit(codec::kTxn, codec::encode(txn), kind, limit,
         [done = std::move(done)](Result<std::string> bytes, Instant sent_at) {
           if (!bytes) return done(tl::unexpected(std::move(bytes.error())));
           auto reply = decoded(codec::decode_txn(*bytes));
           if (reply) reply->sent_at = sent_at;
           done(std::move(reply));
         });
}

void Client::grant(LeaseId id, std::int64_t ttl_s, Instant limit, Done<LeaseReply> done) {
  submit(codec::kGrant, codec::encode_grant(id, ttl_s), Kind::read, limit,
         [done = std::move(done)](Result<std::string> bytes, Instant sent_at) {
           if (!bytes) return done(tl::unexpected(std::move(bytes.error())));
           auto reply = decoded(codec::decode_grant(*bytes));
           if (reply) reply->sent_at = sent_at;
           done(std::move(reply));
         });
}

void Client::keep_alive(LeaseId id, Instant limit, Done<LeaseReply> done) {
  if (closed_) {
    executor_.post([done = std::move(done)] { done(tl::unexpected(closed_error())); });
    return;
  }
  connector_.want();
  keep_alives_.send(id, bounded(limit), std::move(done));
}

void Client::revoke(LeaseId id, Instant limit, Done<Header> done) {
  submit(codec::kRevoke, codec::encode_revoke(id), Kind::read, limit,
         [done = std::move(done)](Result<std::string> bytes, Instant) {
           if (!bytes) return done(tl::unexpected(std::move(bytes.error())));
           done(decoded(codec::decode_revoke(*bytes)));
         });
}

void Client::time_to_live(LeaseId id, bool with_keys, Instant limit, Done<LeaseInfo> done) {
  submit(codec::kTimeToLive, codec::encode_time_to_live(id, with_keys), Kind::read, limit,
         [done = std::move(done)](Result<std::string> bytes, Instant) {
           if (!bytes) return done(tl::unexpected(std::move(bytes.error())));
           done(decoded(codec::decode_time_to_live(*bytes)));
         });
}

std::unique_ptr<Subscription> Client::watch(std::string key, std::string end,
                                            KeyListener& listener) {
  if (!closed_) connector_.want();
  return watches_.add(std::move(key), std::move(end), listener);
}

void Client::submit(const char* method, std::string message, Kind kind, Instant limit,
                    std::function<void(Result<std::string>, Instant)> done) {
  auto request = std::make_shared<Request>();
  request->method = method;
  request->message = std::move(message);
  request->kind = kind;
  request->limit = bounded(limit);
  request->done = std::move(done);
  if (closed_) {
    executor_.post([request] { request->done(tl::unexpected(closed_error()), kLongAgo); });
    return;
  }
  requests_.insert(request);
  request->last_limit = executor_.at(request->limit, [this, request] { expire(request); });
  if (connector_.channel() == nullptr) return connector_.want();
  send(request);
}

void Client::send(const RequestPtr& request) {
  Channel* const channel = connector_.channel();
  if (channel == nullptr) return;
  const Instant now = executor_.clock().now();
  request->sent_at = now;
  request->generation = connector_.generation();
  if (request->kind == Kind::read) {
    const Duration half = saturating_between(now, request->limit) / 2;
    request->try_limit =
        executor_.at(saturating_add(now, half), [this, request] { try_over(request); });
  } else {
    request->in_doubt = true;
  }
  request->call = channel->call(request->method, connector_.metadata(), request->message, false,
                                [this, request](const RpcStatus& status, std::string&& bytes) {
                                  on_answer(request, status, std::move(bytes));
                                });
}

void Client::on_answer(const RequestPtr& request, const RpcStatus& status, std::string&& bytes) {
  const auto call = std::move(request->call);
  if (status.code == 0) {
    connector_.heard(true);
    return finish(request, std::move(bytes));
  }
  const Fault fault = classify(status, request->kind, connector_.endpoint());
  if (fault.without_effect) request->in_doubt = false;
  switch (fault.cure) {
    case Cure::none:
      connector_.heard(true);
      return finish(request, tl::unexpected(fault.error));
    case Cure::authenticate:
      connector_.heard(false);
      if (std::exchange(request->authenticated, true)) {
        return finish(request, tl::unexpected(fault.error));
      }
      again(request);
      connector_.distrust(request->generation, fault.error);
      return;
    case Cure::elsewhere:
      if (fault.without_effect) {
        again(request);
      } else {
        finish(request, tl::unexpected(fault.error));
      }
      connector_.lose(request->generation, fault.error);
      return;
  }
}

// Waits for the next connection, or goes out on the one that has come in the meantime.
void Client::again(const RequestPtr& request) {
  request->try_limit = nullptr;
  request->call = nullptr;
  if (connector_.channel() != nullptr && connector_.generation() != request->generation) {
    send(request);
  }
}

void Client::try_over(const RequestPtr& request) {
  if (request->call == nullptr) return;
  const std::uint64_t generation = request->generation;
  const Instant sent_at = request->sent_at;
  // Its own timer called this: the task must outlive the call below.
  const auto timer = std::move(request->try_limit);
  request->call = nullptr;
  connector_.silent(generation, sent_at);
  if (!request->done || request->call != nullptr) return;
  if (connector_.channel() != nullptr) send(request);
}

void Client::expire(const RequestPtr& request) {
  const auto timer = std::move(request->last_limit);
  const bool sent = request->call != nullptr;
  const Error error = request->in_doubt
                          ? Error{Errc::outcome_unknown, "etcd did not answer in time"}
                      : sent ? Error{Errc::unavailable, "etcd did not answer in time"}
                             : late(connector_.trouble(), "no connection to etcd in time");
  const std::uint64_t generation = request->generation;
  const Instant sent_at = request->sent_at;
  finish(request, tl::unexpected(error));
  if (sent) connector_.silent(generation, sent_at);
}

void Client::finish(const RequestPtr& request, Result<std::string> result) {
  request->call = nullptr;
  request->try_limit = nullptr;
  request->last_limit = nullptr;
  const auto kept = request;
  requests_.erase(request);
  if (auto done = std::exchange(kept->done, nullptr)) done(std::move(result), kept->sent_at);
}

void Client::on_ready() {
  std::vector<RequestPtr> waiting;
  for (const RequestPtr& request : requests_) {
    if (request->call == nullptr) waiting.push_back(request);
  }
  for (const RequestPtr& request : waiting) {
    if (connector_.channel() == nullptr) return;
    if (request->done && request->call == nullptr) send(request);
  }
  if (connector_.channel() != nullptr) keep_alives_.on_ready();
  if (connector_.channel() != nullptr) watches_.on_ready();
}

void Client::on_lost() {
  keep_alives_.on_lost();
  watches_.on_lost();
  std::vector<RequestPtr> in_flight;
  for (const RequestPtr& request : requests_) {
    if (request->call != nullptr) in_flight.push_back(request);
  }
  for (const RequestPtr& request : in_flight) {
    if (request->call == nullptr) continue;
    if (request->in_doubt) {
      finish(request, tl::unexpected(Error{Errc::outcome_unknown, connector_.trouble().message}));
    } else {
      again(request);
    }
  }
}

void Client::on_refused(const Error& error) {
  keep_alives_.on_refused(error);
  watches_.on_refused(error);
  const std::vector<RequestPtr> all(requests_.begin(), requests_.end());
  for (const RequestPtr& request : all) {
    if (request->done) finish(request, tl::unexpected(error));
  }
}

void Client::close() {
  if (std::exchange(closed_, true)) return;
  mailbox_->close();
  on_refused(closed_error());
}

}  // namespace tenure::etcd
