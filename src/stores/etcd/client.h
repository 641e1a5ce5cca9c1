// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/connector.h"
#include "stores/etcd/keep_alives.h"
#include "stores/etcd/types.h"
#include "stores/etcd/watches.h"

#include <memory>
#include <string>
#include <unordered_set>

namespace tenure::etcd {

/// A cluster over the network: one connected endpoint at a time, one stream for all watches and one
/// for all leases, each request bounded by its limit.
///
/// Requests wait for a connection; those that wait in vain had no effect. A read (and whatever else
/// may be repeated) has two tries within its limit, a write that may have been handled only one.
class Client final : public Cluster, private Connector::Listener {
 public:
  Client(EtcdOptions options, Executor& executor, Connector::Open open);
  ~Client() override;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void txn(Txn txn, Instant limit, Done<TxnReply> done) override;
  void grant(LeaseId id, std::int64_t ttl_s, Instant limit, Done<LeaseReply> done) override;
  void keep_alive(LeaseId id, Instant limit, Done<LeaseReply> done) override;
  void revoke(LeaseId id, Instant limit, Done<Header> done) override;
  void time_to_live(LeaseId id, bool with_keys, Instant limit, Done<LeaseInfo> done) override;
  [[nodiscard]] std::unique_ptr<Subscription> watch(std::string key, std::string end,
                                                    KeyListener& listener) override;
  void close() override;
  [[nodiscard]] std::string trouble() const override {
    return connector_.channel() != nullptr ? std::string() : connector_.trouble().message;
  }

 private:
  struct Request {
    const char* method = nullptr;
    std::string message;
    Kind kind = Kind::read;
    Instant limit = kNever;
    std::function<void(Result<std::string>, Instant sent_at)> done;
    Instant sent_at = kLongAgo;
    std::uint64_t generation = 0;
    bool in_doubt = false;  // a write that may have been handled
    bool authenticated = false;
    std::unique_ptr<Call> call;
    std::unique_ptr<Executor::Handle> try_limit;
    std::unique_ptr<Executor::Handle> last_limit;
  };
  using RequestPtr = std::shared_ptr<Request>;

  void submit(const char* method, std::string message, Kind kind, Instant limit,
              std::function<void(Result<std::string>, Instant)> done);
  void send(const RequestPtr& request);
  void on_answer(const RequestPtr& request, const RpcStatus& status, std::string&& bytes);
  void try_over(const RequestPtr& request);
  void expire(const RequestPtr& request);
  void again(const RequestPtr& request);
  void finish(const RequestPtr& request, Result<std::string> result);
  [[nodiscard]] Instant bounded(Instant limit) const;

  void on_ready() override;
  void on_lost() override;
  void on_refused(const Error& error) override;

  Executor& executor_;
  const Duration request_timeout_;
  const std::shared_ptr<Mailbox> mailbox_;
  Connector connector_;
  KeepAlives keep_alives_;
  Watches watches_;
  std::unordered_set<RequestPtr> requests_;
  bool closed_ = false;
};

}  // namespace tenure::etcd
