// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What a cluster is asked and told while it runs, and how its wires are cut.
#include <set>
#include <utility>

#include "tests/stores/etcd/rig/cluster.h"
#include "tests/stores/etcd/rig/cluster_member.h"
#include "tests/stores/etcd/rig/socket.h"

namespace tenure::test {
namespace {

using std::chrono::seconds;

}  // namespace

bool EtcdCluster::usable(std::size_t i) {
  const Member& member = *members_[i];
  return !member.stopped && !member.isolated && running(i);
}

Admin EtcdCluster::admin(std::size_t i, Duration limit) {
  const Member& member = *members_.at(i);
  Admin admin({options_.tls ? member.plain.endpoint() : member.client.endpoint()}, limit);
  if (auth_on_) admin.as("root", kRootPassword);
  return admin;
}

Admin EtcdCluster::admin() {
  std::vector<std::string> endpoints;
  for (std::size_t i = 0; i < size(); ++i) {
    const Member& member = *members_[i];
    if (usable(i)) {
      endpoints.push_back(options_.tls ? member.plain.endpoint() : member.client.endpoint());
    }
  }
  Admin admin(std::move(endpoints));
  if (auth_on_) admin.as("root", kRootPassword);
  return admin;
}

std::optional<std::size_t> EtcdCluster::leader() {
  std::set<std::uint64_t> named;
  std::optional<std::size_t> found;
  std::uint64_t found_id = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!usable(i)) continue;
    try {
      const Admin::Status status = admin(i, seconds(2)).status();
      named.insert(status.leader);
      if (status.leader != status.member) continue;
      found = i;
      found_id = status.member;
    } catch (const RigError&) {
      return std::nullopt;
    }
  }
  return found && named == std::set{found_id} ? found : std::nullopt;
}

std::size_t EtcdCluster::wait_leader(Duration limit) {
  std::optional<std::size_t> found;
  if (!eventually([&] { return (found = leader()).has_value(); }, limit)) {
    throw RigError("the members agree on no leader");
  }
  return *found;
}

void EtcdCluster::move_leader(std::size_t member) {
  const std::size_t from = wait_leader();
  if (from == member) return;
  admin(from).move_leader(admin(member).status().member);
  if (!eventually([&] { return leader() == member; })) {
    throw RigError("the leader did not move to " + name(member));
  }
}

void EtcdCluster::wait_healthy(Duration limit) {
  std::string sick;
  const bool all = eventually(
      [&] {
        for (std::size_t i = 0; i < size(); ++i) {
          if (!usable(i) || admin(i, seconds(2)).healthy()) continue;
          sick = name(i);
          return false;
        }
        return true;
      },
      limit);
  if (!all) throw RigError("not healthy: " + sick);
}

void EtcdCluster::isolate(std::size_t member) {
  if (!options_.peer_links) throw RigError("isolate() needs peer_links");
  members_.at(member)->isolated = true;
  set_wires();
}

void EtcdCluster::heal() {
  for (const auto& member : members_) member->isolated = false;
  set_wires();
}

// A peer's connections come through the proxy of the member that they go to, and are told apart by
// the process that has made them.
void EtcdCluster::set_wires() {
  for (const auto& to : members_) {
    if (to->client_link) to->client_link->set(to->isolated ? kCutWire : Link{});
    if (!to->peer_link) continue;
    for (std::size_t from = 0; from < size(); ++from) {
      const bool cut = to->isolated || members_[from]->isolated;
      to->peer_link->set_group(static_cast<int>(from), cut ? kCutWire : Link{});
    }
  }
}

int EtcdCluster::member_that_uses(int port) const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const pid_t pid = members_[i]->pid;
    if (pid > 0 && owns_port(pid, port)) return static_cast<int>(i);
  }
  return -1;
}

TcpProxy& EtcdCluster::client_link(std::size_t member) {
  const auto& link = members_.at(member)->client_link;
  if (!link) throw RigError("client_link() needs client_links");
  return *link;
}

std::vector<std::string> EtcdCluster::etcdctl_env() const {
  const std::string scheme = options_.tls ? "https://" : "http://";
  std::string all;
  for (std::size_t i = 0; i < size(); ++i) all += (i == 0 ? "" : ",") + scheme + endpoint(i);
  std::vector<std::string> env{"ETCDCTL_API=3", "ETCDCTL_ENDPOINTS=" + all};
  if (auth_on_) env.push_back(std::string("ETCDCTL_USER=root:") + kRootPassword);
  if (options_.tls) {
    env.push_back("ETCDCTL_CACERT=" + authority_->ca());
    env.push_back("ETCDCTL_CERT=" + client_files_.cert);
    env.push_back("ETCDCTL_KEY=" + client_files_.key);
  }
  return env;
}

Authority& EtcdCluster::authority() {
  if (!authority_) throw RigError("authority() needs tls");
  return *authority_;
}

const Authority::Files& EtcdCluster::client_files() const { return client_files_; }

Authority::Files EtcdCluster::issue_member(std::size_t member, const Authority::Wish& wish) {
  return authority().issue(name(member), wish);
}

void EtcdCluster::set_up_tls() {
  authority_ = std::make_unique<Authority>(*dir_ / "pki");
  client_files_ = authority_->issue("client", {.common_name = "tenure"});
  for (std::size_t i = 0; i < options_.members; ++i) {
    issue_member(
        i, {.common_name = name(i), .dns = {name(i)}, .ips = {"127.0.0." + std::to_string(1 + i)}});
  }
}

void EtcdCluster::set_up_auth() {
  Admin setter = admin();
  setter.add_user("root", kRootPassword);
  setter.add_role("root");
  setter.give_role("root", "root");
  setter.enable_auth();
  auth_on_ = true;
}

}  // namespace tenure::test
