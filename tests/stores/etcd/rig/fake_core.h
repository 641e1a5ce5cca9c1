// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/stores/etcd/rig/fake_call.h"
#include "tests/stores/etcd/rig/fake_member.h"
#include "tests/stores/etcd/rig/fake_store.h"

namespace tenure::test {

/// By a method's path, "/etcdserverpb.KV/Range".
[[nodiscard]] Call call_named(const std::string& path);

/// What the calls of a fake member share. The members are guarded by `mutex`.
class FakeCore {
 public:
  using Calls = std::vector<std::shared_ptr<FakeCall>>;

  /// One message of a client. Takes the lock.
  void serve(FakeCall& call, const std::string& bytes);
  /// Takes the lock, changes something, tells the watchers.
  void change(const std::function<void()>& how);
  /// Gives watchers what they have not heard of. Returns whom to pump without the lock.
  [[nodiscard]] Calls publish();

  std::mutex mutex;
  FakeStore store;
  std::set<FakeCall*> open;
  std::map<Call, std::deque<Script>> scripts;
  std::map<Call, std::size_t> counts;
  std::map<Call, std::size_t> without_token;
  std::string user;  // none: nobody needs to log in
  std::string password;
  std::set<std::string> tokens;
  std::size_t tokens_given = 0;
  std::uint64_t term = 2;
  bool leader_known = true;
  bool events_held = false;

 private:
  [[nodiscard]] Script next_script(Call call);
  void check(const FakeCall& call) const;
  [[nodiscard]] std::string answer(FakeCall& call, const Script& script, FakeStore& on,
                                   const std::string& bytes);
  [[nodiscard]] Reaction watch(FakeCall& call, const Script& script, const std::string& bytes);
  [[nodiscard]] std::string events_for(std::int64_t id, FakeCall::Watch& watch);
  void stamp(pb::Header& header, const Script& script) const;
  template <typename Request, typename Run>
  [[nodiscard]] std::string typed(const Script& script, const std::string& bytes, Run run) const;
};

}  // namespace tenure::test
