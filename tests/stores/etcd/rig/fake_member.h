// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/stores/etcd/rig/admin.h"
#include "tests/stores/etcd/rig/port.h"
#include "tests/support/eventually.h"

namespace google::protobuf {
class MessageLite;
}

namespace tenure::test {

/// The methods of etcd that the fake member speaks.
enum class Call {
  range,
  put,
  delete_range,
  txn,
  grant,
  revoke,
  keep_alive,
  time_to_live,
  watch,
  authenticate,
  member_list,
  status,
  other,  // refused as unimplemented
};

/// What is wrong with the answers to one method. For a stream: to one message on it.
struct Script {
  static constexpr std::size_t kAlways = std::numeric_limits<std::size_t>::max();

  bool takes_effect = true;                  // false: answered as if it had
  bool answers = true;                       // false: never, until the client gives up
  Duration after = Duration::zero();         // the answer is that much later (the effect is not)
  int code = 0;                              // a gRPC status instead of the answer, if it is not 0
  std::string message{};                     // its text
  std::optional<std::uint64_t> raft_term{};  // in the answer's header
  std::optional<std::int64_t> ttl{};         // in the answer, where it has one
  /// Any other change of the answer, a message of fake_etcd.proto.
  std::function<void(google::protobuf::MessageLite&)> edit{};
  std::size_t times = kAlways;  // so many calls, then the next script or none
};

/// A single etcd member in this process that answers as a script says, and without one as etcd
/// would. It forgets nothing and its leases never expire by themselves: time has no part in it.
///
///     FakeMember fake;
///     fake.script(Call::keep_alive, {.raft_term = 1});       // acknowledged by a former leader
///     fake.script(Call::txn, {.answers = false, .times = 1});  // takes effect, reply lost
///
/// Thread-safe.
class FakeMember {
 public:
  FakeMember();
  ~FakeMember();
  FakeMember(const FakeMember&) = delete;
  FakeMember& operator=(const FakeMember&) = delete;

  /// "ADDRESS:PORT"
  [[nodiscard]] std::string endpoint() const { return port_.endpoint(); }
  [[nodiscard]] std::string url(const std::string& prefix = {}) const;

  /// Comes after the scripts of that method that are there already.
  void script(Call call, Script script);
  void unscript(Call call);

  // What was asked.
  /// Calls so far; of streams, messages on them.
  [[nodiscard]] std::size_t calls(Call call) const;
  [[nodiscard]] bool wait_calls(Call call, std::size_t count, Duration limit = kPatience) const;
  /// Those without a token.
  [[nodiscard]] std::size_t without_token(Call call) const;
  /// Streams, or calls that wait for an answer, at the moment.
  [[nodiscard]] std::size_t open(Call call) const;

  // What others do meanwhile.
  std::int64_t put(std::string_view key, std::string_view value, std::int64_t lease = 0);
  std::int64_t remove(std::string_view key);
  /// Its keys go, and watchers hear of it.
  void expire(std::int64_t lease);
  /// Gone without a revision or an event, as on a member that is not what it says.
  void forget(std::string_view key);
  void forget_lease(std::int64_t lease);
  void compact(std::int64_t revision);
  /// Those that begin with `prefix`, oldest first.
  [[nodiscard]] std::vector<Admin::Entry> keys(std::string_view prefix = {}) const;
  [[nodiscard]] std::int64_t revision() const;

  // What the member is.
  void set_term(std::uint64_t term);
  /// Without one, everything but status and member list is refused with "no leader".
  void set_leader(bool known);
  /// While held, watchers hear nothing; afterwards they hear it all.
  void hold_events(bool held);
  /// Calls need the token of this user from now on.
  void require_login(std::string user, std::string password);
  /// Tokens that were given out are good no more.
  void end_tokens();
  /// Ends the open calls of this method with a status; 0: without an error.
  void end_calls(Call call, int code = 0, const std::string& message = {});
  /// All connections are gone and new ones refused; start() takes the same port, with all its keys.
  void stop();
  void start();

 private:
  class Server;
  Port port_;
  std::unique_ptr<Server> server_;
};

}  // namespace tenure::test
