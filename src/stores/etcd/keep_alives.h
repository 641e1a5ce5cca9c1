// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/connector.h"
#include "stores/etcd/types.h"

#include <deque>
#include <memory>
#include <string>

namespace tenure::etcd {

/// The one stream that keeps leases alive. Answers come in the order of the requests. A request
/// that is not answered in half its time goes out again on a new stream; an answer counts from when
/// that very message was sent.
///
/// Thread-safety: everything on the loop.
class KeepAlives {
 public:
  KeepAlives(Connector& connector, Executor& executor)
      : connector_(connector), executor_(executor) {}

  void send(LeaseId id, Instant limit, Done<LeaseReply> done);
  void on_ready();
  void on_lost();
  void on_refused(const Error& error);

 private:
  struct Request {
    LeaseId id = 0;
    Instant limit = kNever;
    Done<LeaseReply> done;  // empty: given up, its answer is only counted
    Instant sent_at = kLongAgo;
    std::unique_ptr<Executor::Handle> half;
    std::unique_ptr<Executor::Handle> end;
  };
  using RequestPtr = std::shared_ptr<Request>;

  void open();
  void write(const RequestPtr& request);
  void on_message(const std::string& bytes);
  void on_end(const RpcStatus& status);
  void renew_stream();
  void half_over(const RequestPtr& request);
  void expire(const RequestPtr& request);
  void drop_given_up();

  Connector& connector_;
  Executor& executor_;
  std::unique_ptr<Stream> stream_;
  std::uint64_t generation_ = 0;
  std::deque<RequestPtr> requests_;
};

}  // namespace tenure::etcd
