// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/stores/etcd/rig/error.h"
#include "tests/support/eventually.h"

namespace tenure::test {

/// etcd has refused: the HTTP status and what it said.
class Refused : public RigError {
 public:
  Refused(int status, const std::string& text) : RigError(text), status_(status) {}
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  int status_;
};

/// What a test does to etcd behind the back of the client under test, over etcd's JSON gateway.
/// The first endpoint that answers serves. Every fault is a RigError, a refusal a Refused.
///
///     cluster.admin().revoke(cluster.admin().keys("job/").front().lease);
class Admin {
 public:
  struct Entry {
    std::string key{};
    std::string value{};
    std::int64_t create_revision = 0;
    std::int64_t mod_revision = 0;
    std::int64_t version = 0;
    std::int64_t lease = 0;
  };
  struct Status {
    std::uint64_t member = 0;
    std::uint64_t leader = 0;  // 0: it knows none
    std::uint64_t term = 0;
    std::string version{};
  };
  struct TimeToLive {
    std::int64_t left = 0;  // whole seconds; -1: there is no such lease
    std::int64_t granted = 0;
    std::vector<std::string> keys{};
  };
  enum class Right { read, write, both };

  /// `endpoints`: "ADDRESS:PORT" each, plain HTTP. `limit` bounds one try at one endpoint.
  explicit Admin(std::vector<std::string> endpoints, Duration limit = std::chrono::seconds(8));
  /// Every call from now on is that user's; also when its token ends.
  Admin& as(std::string user, std::string password);

  // Keys. They return the revision of the answer.
  std::int64_t put(std::string_view key, std::string_view value, std::int64_t lease = 0);
  std::int64_t remove(std::string_view key);
  /// Those that begin with `prefix` (all, if empty), oldest first.
  [[nodiscard]] std::vector<Entry> keys(std::string_view prefix = {});
  [[nodiscard]] std::int64_t revision();
  /// `count` puts to one key, each a revision of its own, over several connections at once.
  /// Returns the last revision.
  std::int64_t put_many(std::string_view key, std::size_t count);
  void compact(std::int64_t revision);

  // Leases.
  [[nodiscard]] std::int64_t grant(std::int64_t ttl_seconds);
  void revoke(std::int64_t lease);
  /// Returns the new time to live in seconds, 0 if the lease is gone.
  std::int64_t keep_alive(std::int64_t lease);
  [[nodiscard]] std::vector<std::int64_t> leases();
  [[nodiscard]] TimeToLive time_to_live(std::int64_t lease);

  // Members.
  [[nodiscard]] Status status();
  /// Asked of the leader.
  void move_leader(std::uint64_t to_member);
  [[nodiscard]] bool healthy();

  // Users.
  void add_user(std::string_view name, std::string_view password);
  void change_password(std::string_view name, std::string_view password);
  void add_role(std::string_view role);
  /// For keys that begin with `prefix`; all if empty.
  void allow(std::string_view role, std::string_view prefix, Right right);
  void give_role(std::string_view user, std::string_view role);
  /// User root with role root must be there. Afterwards calls need as().
  void enable_auth();

  /// Any other call: path below /v3/.
  nlohmann::json call(std::string_view path, const nlohmann::json& request);

 private:
  nlohmann::json ask(std::string_view path, const std::string& request);
  void log_in();

  std::vector<std::string> endpoints_;
  Duration limit_;
  std::string user_;
  std::string password_;
  std::string token_;
};

}  // namespace tenure::test
