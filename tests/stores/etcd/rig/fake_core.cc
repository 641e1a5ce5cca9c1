// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/fake_core.h"

#include <algorithm>
#include <google/protobuf/message_lite.h>
#include <utility>

namespace tenure::test {
namespace {

constexpr int kInvalidArgument = 3;
constexpr int kFailedPrecondition = 9;
constexpr int kUnimplemented = 12;
constexpr int kInternal = 13;
constexpr int kUnavailable = 14;
constexpr int kUnauthenticated = 16;

constexpr std::uint64_t kMemberId = 0xfa4e;

grpc::Status status_of(int code, const std::string& message) {
  return {static_cast<grpc::StatusCode>(code), message};
}

bool is_of_keys(Call call) {
  return call == Call::range || call == Call::put || call == Call::delete_range ||
         call == Call::txn || call == Call::watch;
}

}  // namespace

Call call_named(const std::string& path) {
  static const std::map<std::string, Call> calls{
      {"/etcdserverpb.KV/Range", Call::range},
      {"/etcdserverpb.KV/Put", Call::put},
      {"/etcdserverpb.KV/DeleteRange", Call::delete_range},
      {"/etcdserverpb.KV/Txn", Call::txn},
      {"/etcdserverpb.Lease/LeaseGrant", Call::grant},
      {"/etcdserverpb.Lease/LeaseRevoke", Call::revoke},
      {"/etcdserverpb.Lease/LeaseKeepAlive", Call::keep_alive},
      {"/etcdserverpb.Lease/LeaseTimeToLive", Call::time_to_live},
      {"/etcdserverpb.Watch/Watch", Call::watch},
      {"/etcdserverpb.Auth/Authenticate", Call::authenticate},
      {"/etcdserverpb.Cluster/MemberList", Call::member_list},
      {"/etcdserverpb.Maintenance/Status", Call::status}};
  const auto found = calls.find(path);
  return found == calls.end() ? Call::other : found->second;
}

Script FakeCore::next_script(Call call) {
  std::deque<Script>& waiting = scripts[call];
  if (waiting.empty()) return {};
  const Script script = waiting.front();
  if (waiting.front().times != Script::kAlways && --waiting.front().times == 0) {
    waiting.pop_front();
  }
  return script;
}

void FakeCore::check(const FakeCall& call) const {
  const std::optional<std::string> token = call.metadata("token");
  if (is_of_keys(call.call())) {
    if (token && !tokens.contains(*token)) {
      throw FakeStatus(kUnauthenticated, "etcdserver: invalid auth token");
    }
    if (!token && !user.empty()) {
      throw FakeStatus(kInvalidArgument, "etcdserver: user name is empty");
    }
  }
  if (!leader_known && call.call() != Call::status && call.call() != Call::member_list) {
    throw FakeStatus(kUnavailable, "etcdserver: no leader");
  }
}

void FakeCore::serve(FakeCall& call, const std::string& bytes) {
  Calls wake;
  {
    const std::lock_guard lock(mutex);
    ++counts[call.call()];
    if (!call.metadata("token")) ++without_token[call.call()];
    const Script script = next_script(call.call());
    Reaction reaction;
    try {
      if (script.code != 0 && !script.takes_effect) {
        throw FakeStatus(script.code, script.message);
      }
      if (call.call() == Call::watch) {
        reaction = watch(call, script, bytes);
      } else {
        check(call);
        FakeStore copy;
        if (!script.takes_effect) copy = store;
        reaction.messages.push_back(
            answer(call, script, script.takes_effect ? store : copy, bytes));
        if (!call.is_stream()) reaction.end = grpc::Status::OK;
      }
      if (script.code != 0) throw FakeStatus(script.code, script.message);
    } catch (const FakeStatus& status) {
      reaction = {.end = status_of(status.code(), status.what())};
    }
    if (script.answers && script.after > Duration::zero()) {
      call.add_later(std::move(reaction), script.after);
    } else if (script.answers) {
      call.add(std::move(reaction));
    }
    wake = publish();
  }
  call.pump();
  for (const auto& other : wake) other->pump();
}

void FakeCore::change(const std::function<void()>& how) {
  Calls wake;
  {
    const std::lock_guard lock(mutex);
    how();
    wake = publish();
  }
  for (const auto& call : wake) call->pump();
}

void FakeCore::stamp(pb::Header& header, const Script& script) const {
  header.set_cluster_id(1);
  header.set_member_id(kMemberId);
  header.set_revision(store.revision());
  header.set_raft_term(script.raft_term.value_or(term));
}

template <typename Request, typename Run>
std::string FakeCore::typed(const Script& script, const std::string& bytes, Run run) const {
  Request request;
  if (!request.ParseFromString(bytes)) throw FakeStatus(kInternal, "an unreadable request");
  auto response = run(request);
  stamp(*response.mutable_header(), script);
  if constexpr (requires { response.set_ttl(0); }) {
    if (script.ttl) response.set_ttl(*script.ttl);
  }
  if (script.edit) script.edit(response);
  return response.SerializeAsString();
}

std::string FakeCore::answer(FakeCall& call, const Script& script, FakeStore& on,
                             const std::string& bytes) {
  const auto with = [&]<typename Request>(auto method) {
    return typed<Request>(script, bytes,
                          [&](const Request& request) { return (on.*method)(request); });
  };
  switch (call.call()) {
    case Call::range:
      return with.operator()<pb::RangeRequest>(&FakeStore::range);
    case Call::put:
      return with.operator()<pb::PutRequest>(&FakeStore::put);
    case Call::delete_range:
      return with.operator()<pb::DeleteRangeRequest>(&FakeStore::remove);
    case Call::txn:
      return with.operator()<pb::TxnRequest>(&FakeStore::txn);
    case Call::grant:
      return with.operator()<pb::LeaseGrantRequest>(&FakeStore::grant);
    case Call::revoke:
      return with.operator()<pb::LeaseRevokeRequest>(&FakeStore::revoke);
    case Call::keep_alive:
      return with.operator()<pb::LeaseKeepAliveRequest>(&FakeStore::keep_alive);
    case Call::time_to_live:
      return with.operator()<pb::LeaseTimeToLiveRequest>(&FakeStore::time_to_live);
    case Call::authenticate:
      return typed<pb::AuthenticateRequest>(script, bytes, [&](const auto& request) {
        if (user.empty()) {
          throw FakeStatus(kFailedPrecondition, "etcdserver: authentication is not enabled");
        }
        if (request.name() != user || request.password() != password) {
          throw FakeStatus(kInvalidArgument,
                           "etcdserver: authentication failed, invalid user ID or password");
        }
        pb::AuthenticateResponse response;
        response.set_token("token." + std::to_string(++tokens_given));
        tokens.insert(response.token());
        return response;
      });
    case Call::member_list:
      return typed<pb::MemberListRequest>(script, bytes, [&](const auto&) {
        pb::MemberListResponse response;
        response.add_members()->set_id(kMemberId);
        return response;
      });
    case Call::status:
      return typed<pb::StatusRequest>(script, bytes, [&](const auto&) {
        pb::StatusResponse response;
        response.set_version("3.4.23");
        response.set_leader(leader_known ? kMemberId : 0);
        response.set_raft_term(term);
        if (!leader_known) response.add_errors("etcdserver: no leader");
        return response;
      });
    default:
      throw FakeStatus(kUnimplemented, "unknown method");
  }
}

Reaction FakeCore::watch(FakeCall& call, const Script& script, const std::string& bytes) {
  pb::WatchRequest request;
  if (!request.ParseFromString(bytes)) throw FakeStatus(kInternal, "an unreadable request");
  pb::WatchResponse first;
  stamp(*first.mutable_header(), script);
  Reaction reaction;
  const auto say = [&](pb::WatchResponse& response) {
    if (script.edit) script.edit(response);
    reaction.messages.push_back(response.SerializeAsString());
  };
  if (request.has_progress_request()) {
    first.set_watch_id(-1);
    say(first);
  } else if (request.has_cancel_request()) {
    first.set_watch_id(request.cancel_request().watch_id());
    first.set_canceled(true);
    if (call.watches.erase(first.watch_id()) > 0) say(first);
  } else {
    const pb::WatchCreateRequest& create = request.create_request();
    first.set_created(true);
    try {
      check(call);
      const std::int64_t id = create.watch_id() != 0 ? create.watch_id() : call.next_watch++;
      if (call.watches.contains(id)) {
        throw FakeStatus(0, "mvcc: duplicate watch ID provided on the WatchStream");
      }
      first.set_watch_id(id);
      say(first);
      const std::int64_t from = create.start_revision();
      if (from != 0 && from < store.compacted()) {
        pb::WatchResponse gone;
        gone.mutable_header()->set_member_id(kMemberId);
        gone.set_watch_id(id);
        gone.set_canceled(true);
        gone.set_compact_revision(store.compacted());
        say(gone);
      } else {
        call.watches[id] = {create, from != 0 ? from : store.revision() + 1};
      }
    } catch (const FakeStatus& status) {
      if (status.code() == kUnavailable) throw;
      first.set_watch_id(-1);
      first.set_canceled(true);
      first.set_cancel_reason(status.what());
      say(first);
    }
  }
  return reaction;
}

// What a watch has not heard of, as one message; empty if there is nothing.
std::string FakeCore::events_for(std::int64_t id, FakeCall::Watch& watch) {
  const pb::WatchCreateRequest& wanted = watch.request;
  const auto filtered = [&](const pb::Event& event) {
    const int kind = event.type() == pb::Event::DELETE ? 1 : 0;
    return std::find(wanted.filters().begin(), wanted.filters().end(), kind) !=
           wanted.filters().end();
  };
  pb::WatchResponse response;
  const auto& events = store.events();
  auto it = std::lower_bound(
      events.begin(), events.end(), watch.next,
      [](const FakeStore::Watched& event, std::int64_t next) { return event.revision < next; });
  for (; it != events.end(); ++it) {
    if (!FakeStore::in_range(it->event.kv().key(), wanted.key(), wanted.range_end()) ||
        filtered(it->event)) {
      continue;
    }
    *response.add_events() = it->event;
    if (!wanted.prev_kv()) response.mutable_events()->rbegin()->clear_prev_kv();
  }
  watch.next = std::max(watch.next, store.revision() + 1);
  if (response.events().empty()) return {};
  stamp(*response.mutable_header(), {});
  response.set_watch_id(id);
  return response.SerializeAsString();
}

FakeCore::Calls FakeCore::publish() {
  Calls wake;
  if (events_held) return wake;
  for (FakeCall* call : open) {
    for (auto& [id, watch] : call->watches) {
      std::string message = events_for(id, watch);
      if (message.empty()) continue;
      call->add({.messages = {std::move(message)}});
      wake.push_back(call->shared());
    }
  }
  return wake;
}

}  // namespace tenure::test
