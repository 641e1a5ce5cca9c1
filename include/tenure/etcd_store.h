// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/executor.h>
#include <tenure/store.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure {

/// How an etcd cluster is reached. Files are read when a connection is made, and again for each
/// later one, so renewed certificates and passwords need no restart.
struct EtcdOptions {
  /// "HOST:PORT" each; at least one. All members of one cluster, in the order of preference.
  std::vector<std::string> endpoints{};

  /// Put before every election's name, byte for byte: "app/" makes election "job" the one that
  /// `etcdctl elect app/job` stands in. Empty: names are taken as they are.
  std::string prefix{};

  /// PEM file of the authorities that may sign the servers' certificates. Setting it, or
  /// `certificate`, turns TLS on.
  std::string ca{};
  /// PEM files of this client's certificate and its key; both or none.
  std::string certificate{};
  std::string key{};
  /// The names that the servers' certificates must carry: one for each endpoint, or one for all.
  /// Empty: each endpoint's own host.
  std::vector<std::string> server_names{};

  /// Empty: no authentication.
  std::string user{};
  std::string password{};
  /// Read instead of `password` if it is not empty; one newline at its end is not part of it.
  std::string password_file{};

  /// How long one endpoint may take to be connected and to say that it is well. Danger: too short
  /// never connects over a slow network.
  Duration dial_timeout = std::chrono::seconds(2);
  /// Bound of one request where the caller allows more. Danger: above the store's own 7 s it adds
  /// nothing; too short fails on a slow disk.
  Duration request_timeout = std::chrono::seconds(5);
};

/// The comparison that makes a write safe: in a transaction of your own etcd client, take effect
/// only if the create revision of `key` equals `create_revision`. True as long as the term lasts.
struct EtcdFence {
  std::string key;
  std::int64_t create_revision = 0;
};

/// One write of a user's key that takes effect only while a term holds.
struct EtcdWrite {
  std::string election;
  std::uint64_t token = 0;             ///< Of the term: Leadership::token().
  std::string key;                     ///< Byte for byte; the store's prefix is not put before it.
  std::optional<std::string> value{};  ///< Nothing: the key is deleted.
  Instant limit = kNever;
};

struct EtcdWriteReply {
  /// False: the term had ended; nothing was changed.
  bool done = false;
  /// The store's revision at which it was done or refused.
  std::uint64_t revision = 0;
};

/// A store of elections in etcd (v3 API, 3.3 or later), in one line with Go programs
/// (clientv3/concurrency) and with `etcdctl elect` and `etcdctl lock`: docs/stores/etcd.md.
///
///     auto store = tenure::open_etcd_store({.endpoints = {"10.0.0.1:2379"}}, *runtime);
///     ...
///     (*store)->write({"job", term.token(), "job/state", "42"}, [](auto reply) { ... });
///
/// What it is like, beside the contract of LeaseStore:
///  - It has a queue; tokens and revisions are etcd's create revisions.
///  - One lease serves all elections of a store object that ask for the same ttl, in whole seconds
///    (rounded up); etcd may grant more. A second candidate of this object in one election gets a
///    lease of its own.
///  - Sessions are this object's own names. Everybody else sees the lease id instead, in lower-case
///    hexadecimal.
///  - A record that its owner does not renew ends by its ttl although the lease goes on for others:
///    the object then deletes it.
///
/// Thread-safety: as LeaseStore; fence() and write() from any thread.
class EtcdStore : public LeaseStore {
 public:
  /// What to compare for the term with this token, if this object was granted it. Says nothing
  /// about whether the term still lasts: the comparison does.
  [[nodiscard]] virtual std::optional<EtcdFence> fence(std::string_view election,
                                                       std::uint64_t token) const = 0;

  /// Does one write if the term still lasts when etcd handles it; a paused process that wakes too
  /// late changes nothing. not_found: this object was never granted such a term. The completion
  /// is called on the loop.
  virtual void write(EtcdWrite write, Completion<EtcdWriteReply> done) = 0;
};

/// Opens the store. Nothing is sent before the first request, so the servers need not be there yet.
/// invalid_argument: says which option is wrong. `executor` must outlive the store.
///
/// Runtime::open_store takes the same as a URL:
/// `etcd://HOST:PORT[,HOST:PORT...][/PREFIX][?OPTION=VALUE...]` with the options ca, cert, key,
/// server-name, user, password-file, prefix, dial-timeout and request-timeout; the password may
/// come from TENURE_ETCD_PASSWORD. PREFIX is followed by a slash; option `prefix` is not.
[[nodiscard]] Result<std::unique_ptr<EtcdStore>> open_etcd_store(EtcdOptions options,
                                                                 Executor& executor);

/// The options that such a URL stands for. Reads TENURE_ETCD_PASSWORD: not while another thread
/// changes the environment. invalid_argument: says what is wrong.
[[nodiscard]] Result<EtcdOptions> parse_etcd_url(std::string_view url);

}  // namespace tenure
