// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/transport.h"

#include <deque>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

namespace tenure::etcd {
namespace {

grpc::ByteBuffer to_buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::string to_string(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok()) return bytes;
  bytes.reserve(buffer.Length());
  for (const grpc::Slice& slice : slices) {
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return bytes;
}

RpcStatus to_status(const grpc::Status& status) {
  return {static_cast<int>(status.error_code()), status.error_message()};
}

void add_metadata(grpc::ClientContext& context, const Metadata& metadata) {
  for (const auto& [name, value] : metadata) context.AddMetadata(name, value);
}

// Lives until gRPC has answered. `on_answer` is of the loop.
struct CallState {
  grpc::ClientContext context;
  grpc::ByteBuffer request;
  grpc::ByteBuffer reply;
  Channel::OnAnswer on_answer;
};

class GrpcCall final : public Call {
 public:
  explicit GrpcCall(std::shared_ptr<CallState> state) : state_(std::move(state)) {}
  ~GrpcCall() override {
    state_->on_answer = nullptr;
    state_->context.TryCancel();
  }
  GrpcCall(const GrpcCall&) = delete;
  GrpcCall& operator=(const GrpcCall&) = delete;

 private:
  std::shared_ptr<CallState> state_;
};

// What the loop wants to hear of a stream; emptied when it does not any more.
struct Ears {
  Channel::OnMessage on_message;
  Channel::OnEnd on_end;
};

// Owns itself until gRPC is done with it.
class Reactor final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Reactor(std::shared_ptr<Mailbox> mailbox, std::shared_ptr<Ears> ears)
      : mailbox_(std::move(mailbox)), ears_(std::move(ears)) {}

  void start(grpc::GenericStub& stub, const char* method, const Metadata& metadata,
             std::shared_ptr<Reactor> self) {
    self_ = std::move(self);
    add_metadata(context_, metadata);
    context_.set_wait_for_ready(true);
    stub.PrepareBidiStreamingCall(&context_, method, {}, this);
    // Writes come from outside of gRPC's own calls.
    AddHold();
    StartRead(&incoming_);
    StartCall();
  }

  void write(const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    waiting_.push_back(to_buffer(message));
    if (!writing_) write_next();
  }

  void cancel() {
    context_.TryCancel();
    let_go();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      let_go();
      return;
    }
    mailbox_->push([ears = ears_, message = to_string(incoming_)]() mutable {
      if (ears->on_message) ears->on_message(std::move(message));
    });
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (ok && !ended_ && !waiting_.empty()) write_next();
  }

  void OnDone(const grpc::Status& status) override {
    mailbox_->push([ears = ears_, status = to_status(status)] {
      if (auto on_end = std::exchange(ears->on_end, nullptr)) on_end(status);
    });
    const auto last = std::move(self_);
  }

 private:
  void write_next() {
    writing_ = true;
    outgoing_.Swap(&waiting_.front());
    waiting_.pop_front();
    grpc::WriteOptions options;
    if (!waiting_.empty()) options.set_buffer_hint();
    StartWrite(&outgoing_, options);
  }

  void let_go() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(ended_, true)) return;
    }
    RemoveHold();
  }

  const std::shared_ptr<Mailbox> mailbox_;
  const std::shared_ptr<Ears> ears_;
  std::shared_ptr<Reactor> self_;
  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  grpc::ByteBuffer outgoing_;
  std::mutex mutex_;
  std::deque<grpc::ByteBuffer> waiting_;
  bool writing_ = false;
  bool ended_ = false;
};

class GrpcStream final : public Stream {
 public:
  GrpcStream(std::shared_ptr<Reactor> reactor, std::shared_ptr<Ears> ears)
      : reactor_(std::move(reactor)), ears_(std::move(ears)) {}
  ~GrpcStream() override {
    ears_->on_message = nullptr;
    ears_->on_end = nullptr;
    reactor_->cancel();
  }
  GrpcStream(const GrpcStream&) = delete;
  GrpcStream& operator=(const GrpcStream&) = delete;

  void write(std::string message) override { reactor_->write(message); }

 private:
  std::shared_ptr<Reactor> reactor_;
  std::shared_ptr<Ears> ears_;
};

class GrpcChannel final : public Channel {
 public:
  GrpcChannel(const std::shared_ptr<grpc::Channel>& channel, std::shared_ptr<Mailbox> mailbox)
      : stub_(channel), mailbox_(std::move(mailbox)) {}

  std::unique_ptr<Call> call(const char* method, const Metadata& metadata,
                             const std::string& message, bool wait, OnAnswer on_answer) override {
    auto state = std::make_shared<CallState>();
    add_metadata(state->context, metadata);
    state->context.set_wait_for_ready(wait);
    state->request = to_buffer(message);
    state->on_answer = std::move(on_answer);
    stub_.UnaryCall(&state->context, method, {}, &state->request, &state->reply,
                    [state, mailbox = mailbox_](const grpc::Status& status) {
                      mailbox->push([state, status = to_status(status)] {
                        if (auto answer = std::exchange(state->on_answer, nullptr)) {
                          answer(status, to_string(state->reply));
                        }
                      });
                    });
    return std::make_unique<GrpcCall>(std::move(state));
  }

  std::unique_ptr<Stream> open(const char* method, const Metadata& metadata, OnMessage on_message,
                               OnEnd on_end) override {
    auto ears = std::make_shared<Ears>(Ears{std::move(on_message), std::move(on_end)});
    auto reactor = std::make_shared<Reactor>(mailbox_, ears);
    reactor->start(stub_, method, metadata, reactor);
    return std::make_unique<GrpcStream>(std::move(reactor), std::move(ears));
  }

 private:
  grpc::GenericStub stub_;
  std::shared_ptr<Mailbox> mailbox_;
};

grpc::ChannelArguments arguments(const ChannelOptions& options) {
  grpc::ChannelArguments args;
  // A channel that is thrown away takes its connection with it.
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetMaxReceiveMessageSize(-1);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  args.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1000);
  // etcd takes pings no more often than every 5 s.
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5'000);
  args.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  if (options.tls && !options.server_name.empty()) {
    args.SetSslTargetNameOverride(options.server_name);
  }
  return args;
}

// gRPC's threads for callbacks end with the last channel that uses them, and as of 1.51 the process
// aborts if it is one of these threads that drops it. So one channel, which leads nowhere, stays.
struct Anchor {
  std::shared_ptr<grpc::Channel> channel = grpc::CreateChannel("", nullptr);
  grpc::GenericStub stub{channel};
  CallState call;

  Anchor() {
    call.request = to_buffer({});
    stub.UnaryCall(&call.context, "/none/none", {}, &call.request, &call.reply,
                   [](const grpc::Status&) {});
  }
};

}  // namespace

std::unique_ptr<Channel> open_grpc_channel(const ChannelOptions& options,
                                           std::shared_ptr<Mailbox> mailbox) {
  static const Anchor* const kAnchor = new Anchor;
  (void)kAnchor;
  auto credentials = options.tls
                         ? grpc::SslCredentials({options.ca, options.key, options.certificate})
                         : grpc::InsecureChannelCredentials();
  const auto channel =
      grpc::CreateCustomChannel("dns:///" + options.endpoint, credentials, arguments(options));
  return std::make_unique<GrpcChannel>(channel, std::move(mailbox));
}

}  // namespace tenure::etcd
