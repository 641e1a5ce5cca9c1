// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/fake_member.h"

#include <chrono>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <utility>

#include "tests/stores/etcd/rig/fake_core.h"

namespace tenure::test {

class FakeMember::Server {
 public:
  explicit Server(std::string endpoint) : endpoint_(std::move(endpoint)) { start(); }
  ~Server() { stop(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(endpoint_, grpc::InsecureServerCredentials());
    // What the real one allows (--grpc-keepalive-min-time).
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
    service_ = std::make_unique<Service>(core);  // gRPC takes one for one server only
    builder.RegisterCallbackGenericService(service_.get());
    grpc_ = builder.BuildAndStart();
    if (!grpc_) throw RigError("cannot listen on " + endpoint_);
  }

  void stop() {
    if (!grpc_) return;
    grpc_->Shutdown(std::chrono::system_clock::now());
    grpc_->Wait();
    grpc_.reset();
  }

  const std::shared_ptr<FakeCore> core = std::make_shared<FakeCore>();

 private:
  class Service : public grpc::CallbackGenericService {
   public:
    explicit Service(std::shared_ptr<FakeCore> core) : core_(std::move(core)) {}
    grpc::ServerGenericBidiReactor* CreateReactor(
        grpc::GenericCallbackServerContext* context) override {
      return FakeCall::make(core_, context);
    }

   private:
    std::shared_ptr<FakeCore> core_;
  };

  const std::string endpoint_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> grpc_;
};

FakeMember::FakeMember() : server_(std::make_unique<Server>(port_.endpoint())) {}
FakeMember::~FakeMember() = default;

std::string FakeMember::url(const std::string& prefix) const {
  return "etcd://" + endpoint() + (prefix.empty() ? "" : "/" + prefix);
}

void FakeMember::script(Call call, Script script) {
  server_->core->change([&] { server_->core->scripts[call].push_back(std::move(script)); });
}

void FakeMember::unscript(Call call) {
  server_->core->change([&] { server_->core->scripts.erase(call); });
}

std::size_t FakeMember::calls(Call call) const {
  const std::lock_guard lock(server_->core->mutex);
  return server_->core->counts[call];
}

bool FakeMember::wait_calls(Call call, std::size_t count, Duration limit) const {
  return eventually([&] { return calls(call) >= count; }, limit);
}

std::size_t FakeMember::without_token(Call call) const {
  const std::lock_guard lock(server_->core->mutex);
  return server_->core->without_token[call];
}

std::size_t FakeMember::open(Call call) const {
  const std::lock_guard lock(server_->core->mutex);
  std::size_t count = 0;
  for (const FakeCall* one : server_->core->open) count += one->call() == call;
  return count;
}

std::int64_t FakeMember::put(std::string_view key, std::string_view value, std::int64_t lease) {
  pb::PutRequest request;
  request.set_key(std::string(key));
  request.set_value(std::string(value));
  request.set_lease(lease);
  server_->core->change([&] { server_->core->store.put(request); });
  return revision();
}

std::int64_t FakeMember::remove(std::string_view key) {
  pb::DeleteRangeRequest request;
  request.set_key(std::string(key));
  server_->core->change([&] { server_->core->store.remove(request); });
  return revision();
}

void FakeMember::expire(std::int64_t lease) {
  pb::LeaseRevokeRequest request;
  request.set_id(lease);
  server_->core->change([&] { server_->core->store.revoke(request); });
}

void FakeMember::forget(std::string_view key) {
  server_->core->change([&] { server_->core->store.forget(key); });
}

void FakeMember::forget_lease(std::int64_t lease) {
  server_->core->change([&] { server_->core->store.forget_lease(lease); });
}

void FakeMember::compact(std::int64_t revision) {
  server_->core->change([&] { server_->core->store.compact(revision); });
}

std::vector<Admin::Entry> FakeMember::keys(std::string_view prefix) const {
  pb::RangeRequest request;
  request.set_key(std::string(1, '\0'));
  request.set_range_end(std::string(1, '\0'));
  request.set_sort_order(pb::RangeRequest::ASCEND);
  request.set_sort_target(pb::RangeRequest::CREATE);
  pb::RangeResponse all;
  {
    const std::lock_guard lock(server_->core->mutex);
    all = server_->core->store.range(request);
  }
  std::vector<Admin::Entry> found;
  for (const pb::KeyValue& kv : all.kvs()) {
    if (!kv.key().starts_with(prefix)) continue;
    found.push_back({.key = kv.key(),
                     .value = kv.value(),
                     .create_revision = kv.create_revision(),
                     .mod_revision = kv.mod_revision(),
                     .version = kv.version(),
                     .lease = kv.lease()});
  }
  return found;
}

std::int64_t FakeMember::revision() const {
  const std::lock_guard lock(server_->core->mutex);
  return server_->core->store.revision();
}

void FakeMember::set_term(std::uint64_t term) {
  server_->core->change([&] { server_->core->term = term; });
}

void FakeMember::set_leader(bool known) {
  server_->core->change([&] { server_->core->leader_known = known; });
}

void FakeMember::hold_events(bool held) {
  server_->core->change([&] { server_->core->events_held = held; });
}

void FakeMember::require_login(std::string user, std::string password) {
  server_->core->change([&] {
    server_->core->user = std::move(user);
    server_->core->password = std::move(password);
  });
}

void FakeMember::end_tokens() {
  server_->core->change([&] { server_->core->tokens.clear(); });
}

void FakeMember::end_calls(Call call, int code, const std::string& message) {
  FakeCore::Calls ended;
  {
    const std::lock_guard lock(server_->core->mutex);
    for (FakeCall* one : server_->core->open) {
      if (one->call() != call) continue;
      one->add({.end = grpc::Status(static_cast<grpc::StatusCode>(code), message)});
      ended.push_back(one->shared());
    }
  }
  for (const auto& one : ended) one->pump();
}

void FakeMember::stop() { server_->stop(); }
void FakeMember::start() { server_->start(); }

}  // namespace tenure::test
