// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/errors.h"

#include <tenure/executor.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

/// Bytes over HTTP/2, and nothing about etcd: the only part that knows gRPC.
namespace tenure::etcd {

/// Takes what other threads have to say to the loop: one wake-up for many messages, and after
/// close() the executor is not touched any more, however late an answer comes.
class Mailbox : public std::enable_shared_from_this<Mailbox> {
 public:
  explicit Mailbox(Executor& executor) : executor_(&executor) {}
  /// From any thread.
  void push(Executor::Task task);
  /// On the loop. What was pushed and has not run is dropped.
  void close();

 private:
  void deliver();

  std::mutex mutex_;
  Executor* executor_;
  std::vector<Executor::Task> tasks_;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

/// One unary call. Destroying it cancels it; its answer is not heard then.
class Call {
 public:
  virtual ~Call() = default;
};

/// One bidirectional stream. Destroying it cancels it; nothing is heard of it then.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void write(std::string message) = 0;
};

/// A connection to one endpoint, made when it is first needed and renewed by itself.
/// All functions handed in are called on the loop, never from within the call.
class Channel {
 public:
  using OnAnswer = std::function<void(const RpcStatus&, std::string&&)>;
  using OnMessage = std::function<void(std::string&&)>;
  using OnEnd = std::function<void(const RpcStatus&)>;

  virtual ~Channel() = default;
  /// `wait`: for the connection, else the call fails at once without one.
  [[nodiscard]] virtual std::unique_ptr<Call> call(const char* method, const Metadata& metadata,
                                                   const std::string& message, bool wait,
                                                   OnAnswer on_answer) = 0;
  [[nodiscard]] virtual std::unique_ptr<Stream> open(const char* method, const Metadata& metadata,
                                                     OnMessage on_message, OnEnd on_end) = 0;
};

struct ChannelOptions {
  std::string endpoint;  ///< HOST:PORT
  bool tls = false;
  std::string ca{};           ///< PEM; empty: the system's.
  std::string certificate{};  ///< PEM, with `key`; empty: none.
  std::string key{};
  std::string server_name{};  ///< Empty: the endpoint's host.
};

[[nodiscard]] std::unique_ptr<Channel> open_grpc_channel(const ChannelOptions& options,
                                                         std::shared_ptr<Mailbox> mailbox);

}  // namespace tenure::etcd
