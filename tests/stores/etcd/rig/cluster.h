// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "tests/stores/etcd/rig/admin.h"
#include "tests/stores/etcd/rig/certificates.h"
#include "tests/stores/etcd/rig/proxy.h"
#include "tests/stores/etcd/rig/scratch.h"
#include "tests/support/eventually.h"

namespace tenure::test {

struct ClusterOptions {
  std::size_t members = 1;
  /// Clients need https and a certificate of authority(); each member has a certificate for its own
  /// address and name only.
  bool tls = false;
  /// User root, password "root-password", with every right; others by admin().
  bool auth = false;
  /// How long a token that is not used lives.
  std::chrono::seconds token_ttl = std::chrono::seconds(300);
  /// Signed tokens (JWT), which end after token_ttl even if they are used.
  bool signed_tokens = false;
  std::chrono::milliseconds heartbeat = std::chrono::milliseconds(100);
  /// The least ttl that etcd grants is 1.5 times this, in whole seconds.
  std::chrono::milliseconds election_timeout = std::chrono::milliseconds(1000);
  /// A proxy in front of each member: endpoint() and url() name the proxies, client_link() is one.
  bool client_links = false;
  /// Proxies between the members too: what isolate() needs.
  bool peer_links = false;
  /// Where the data goes; in memory if there is room, unless it is given.
  std::filesystem::path base{};
  /// More flags of etcd, for every member.
  std::vector<std::string> flags{};
  /// Told the first member's own endpoint each time that ports have been chosen, before it starts.
  std::function<void(const std::string& endpoint)> ports_chosen{};
};

/// Real etcd members on free ports of 127.0.0.1, 127.0.0.2 and so on, ended with the object or the
/// test program. Members are counted from 0. One thread at a time. Faults are RigErrors.
///
///     EtcdCluster cluster({.members = 3});
///     const std::size_t leader = cluster.wait_leader();
///     cluster.kill(leader);
///     EXPECT_NE(cluster.wait_leader(), leader);
class EtcdCluster {
 public:
  /// Returns when every member says that it is healthy.
  explicit EtcdCluster(ClusterOptions options = {});
  ~EtcdCluster();
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  static constexpr const char* kRootPassword = "root-password";

  // Where clients go.
  [[nodiscard]] std::size_t size() const noexcept;
  /// "ADDRESS:PORT" for clients: of the proxy, with client_links.
  [[nodiscard]] std::string endpoint(std::size_t member) const;
  /// All of them, separated by commas.
  [[nodiscard]] std::string endpoints() const;
  /// The member's own "ADDRESS:PORT", past any proxy.
  [[nodiscard]] std::string member_endpoint(std::size_t member) const;
  /// "etcd://ENDPOINTS/PREFIX"; options of the store are the caller's.
  [[nodiscard]] std::string url(const std::string& prefix = {}) const;
  /// Environment of etcdctl with which it reaches the members as root.
  [[nodiscard]] std::vector<std::string> etcdctl_env() const;
  /// The name in a member's certificate, besides its address: "m0.tenure.test".
  [[nodiscard]] static std::string name(std::size_t member);

  // TLS.
  [[nodiscard]] Authority& authority();
  /// A good client certificate, user "tenure".
  [[nodiscard]] const Authority::Files& client_files() const;
  /// A member's files, to issue them anew (etcd reads them at each handshake).
  Authority::Files issue_member(std::size_t member, const Authority::Wish& wish);

  // Administration. Past proxies, TLS and, as root, all permissions; only members that run and are
  // not isolated are asked.
  [[nodiscard]] Admin admin();
  /// Of this member, in whatever state it is.
  [[nodiscard]] Admin admin(std::size_t member, Duration limit = std::chrono::seconds(8));
  /// The leader that all running, reachable members agree on.
  [[nodiscard]] std::optional<std::size_t> leader();
  std::size_t wait_leader(Duration limit = kPatience);
  /// By etcd's own hand-over, without loss.
  void move_leader(std::size_t member);
  /// Waits until every member that runs is healthy.
  void wait_healthy(Duration limit = kPatience);

  // Faults.
  [[nodiscard]] pid_t pid(std::size_t member) const;
  [[nodiscard]] bool running(std::size_t member);
  void kill(std::size_t member);     // SIGKILL; its data stays
  void stop(std::size_t member);     // SIGSTOP
  void resume(std::size_t member);   // SIGCONT
  void restart(std::size_t member);  // with the same data and ports; kills it first if it runs
  /// Cuts the wires between this member and the others, and its clients' if there are
  /// client_links, as a broken network does: nobody is told. Needs peer_links.
  void isolate(std::size_t member);
  /// Mends all wires.
  void heal();
  [[nodiscard]] TcpProxy& client_link(std::size_t member);
  /// What the member has logged.
  [[nodiscard]] std::string log(std::size_t member) const;

 private:
  struct Member;
  void create();
  void start(std::size_t member);
  [[nodiscard]] bool started_well(std::size_t member);
  [[nodiscard]] std::vector<std::string> command(std::size_t member) const;
  [[nodiscard]] std::string peer_url(std::size_t member) const;
  [[nodiscard]] bool usable(std::size_t member);
  void set_wires();
  void set_up_tls();
  void set_up_auth();
  [[nodiscard]] int member_that_uses(int port) const;

  ClusterOptions options_;
  std::unique_ptr<ScratchDir> dir_;
  std::unique_ptr<Authority> authority_;
  Authority::Files client_files_;
  Authority::Files token_files_;
  std::vector<std::unique_ptr<Member>> members_;
  bool auth_on_ = false;
};

}  // namespace tenure::test
