// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tests/stores/etcd/rig/fake_member.h"
#include "tests/stores/etcd/rig/fake_store.h"

namespace tenure::test {

class FakeCore;

/// What goes back: messages, and then perhaps the end.
struct Reaction {
  std::deque<std::string> messages{};
  std::optional<grpc::Status> end{};
};

/// One call, unary or stream. Everything but the gRPC reactions happens under the core's lock;
/// gRPC is called without it, by pump().
class FakeCall : public grpc::ServerGenericBidiReactor {
 public:
  struct Watch {
    pb::WatchCreateRequest request;
    std::int64_t next = 0;  // the first revision that it has not heard of
  };

  /// Keeps itself alive until gRPC is done with it.
  static FakeCall* make(std::shared_ptr<FakeCore> core,
                        grpc::GenericCallbackServerContext* context);

  [[nodiscard]] Call call() const noexcept { return call_; }
  [[nodiscard]] bool is_stream() const noexcept {
    return call_ == Call::keep_alive || call_ == Call::watch;
  }
  [[nodiscard]] std::optional<std::string> metadata(const std::string& name) const;

  // Under the lock.
  void add(Reaction reaction);
  void add_later(Reaction reaction, Duration after);
  [[nodiscard]] std::shared_ptr<FakeCall> shared() const { return self_; }

  /// Without the lock: sends what there is to send.
  void pump();

  std::map<std::int64_t, Watch> watches;
  std::int64_t next_watch = 0;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  FakeCall(std::shared_ptr<FakeCore> core, grpc::GenericCallbackServerContext* context);

  const std::shared_ptr<FakeCore> core_;
  grpc::GenericCallbackServerContext* const context_;
  const Call call_;
  std::shared_ptr<FakeCall> self_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  std::deque<std::string> queue_;
  std::optional<grpc::Status> end_;
  bool writing_ = false;
  bool finished_ = false;
  std::list<grpc::Alarm> alarms_;
};

}  // namespace tenure::test
