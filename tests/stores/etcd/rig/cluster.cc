// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/cluster.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "tests/stores/etcd/rig/cluster_member.h"
#include "tests/stores/etcd/rig/socket.h"
#include "tests/support/temp_dir.h"

namespace tenure::test {
namespace {

constexpr const char* kEtcd = "/usr/bin/etcd";
// Each member allocates two segments of its log, and grows.
constexpr std::uint64_t kRoom = 256U << 20;

std::string address_of(std::size_t member) { return "127.0.0." + std::to_string(1 + member); }

}  // namespace

EtcdCluster::EtcdCluster(ClusterOptions options) : options_(std::move(options)) {
  dir_ = options_.base.empty() ? std::make_unique<ScratchDir>(kRoom * options_.members)
                               : std::make_unique<ScratchDir>(options_.base);
  if (options_.tls) set_up_tls();
  if (options_.signed_tokens) token_files_ = make_rsa_key(*dir_ / "token");
  create();
  wait_healthy();
  if (options_.auth) set_up_auth();
}

EtcdCluster::~EtcdCluster() {
  // All at once: no member is left to elect anybody.
  for (const auto& member : members_) {
    if (member->process) member->process->send(SIGKILL);
  }
}

void EtcdCluster::create() {
  for (int tries = 1;; ++tries) {
    members_.clear();
    for (std::size_t i = 0; i < options_.members; ++i) {
      members_.push_back(std::make_unique<Member>(address_of(i)));
    }
    for (const auto& member : members_) {
      const std::string& address = member->peer.address();
      if (options_.client_links) {
        member->client_link = std::make_unique<TcpProxy>(member->client.endpoint(), address);
      }
      if (options_.peer_links) {
        member->peer_link = std::make_unique<TcpProxy>(
            member->peer.endpoint(), address, [this](int port) { return member_that_uses(port); });
      }
    }
    if (options_.ports_chosen) options_.ports_chosen(member_endpoint(0));
    for (std::size_t i = 0; i < size(); ++i) start(i);
    bool good = true;
    for (std::size_t i = 0; i < size() && good; ++i) good = started_well(i);
    if (good) return;
    // Somebody who knows nothing of our reservations took a port meanwhile.
    if (tries == 5) throw RigError("no free ports for etcd, five times");
    for (std::size_t i = 0; i < size(); ++i) {
      kill(i);
      std::filesystem::remove_all(*dir_ / ("data" + std::to_string(i)));
      std::filesystem::remove(*dir_ / (name(i) + ".err"));
    }
  }
}

// True when it serves, false if its port was taken.
bool EtcdCluster::started_well(std::size_t member) {
  bool serves = false;
  const bool settled = eventually([&] {
    if (!running(member)) return true;
    try {
      serves = admin(member, std::chrono::seconds(1)).status().member != 0;
    } catch (const RigError&) {  // not yet
    }
    return serves;
  });
  if (serves) return true;
  const std::string said = log(member);
  if (said.find("address already in use") != std::string::npos) return false;
  throw RigError(std::string(settled ? "etcd has ended: " : "etcd does not answer: ") +
                 said.substr(said.size() - std::min<std::size_t>(said.size(), 3000)));
}

std::vector<std::string> EtcdCluster::command(std::size_t i) const {
  const Member& member = *members_[i];
  const std::string scheme = options_.tls ? "https://" : "http://";
  std::string listen = scheme + member.client.endpoint();
  if (options_.tls) listen += ",http://" + member.plain.endpoint();
  std::string everybody;
  for (std::size_t j = 0; j < size(); ++j) {
    everybody += (j == 0 ? "" : ",") + name(j) + "=" + peer_url(j);
  }
  std::vector<std::string> words{
      kEtcd,
      "--name=" + name(i),
      "--data-dir=" + *dir_ / ("data" + std::to_string(i)),
      "--listen-client-urls=" + listen,
      "--advertise-client-urls=" + scheme + endpoint(i),
      "--listen-peer-urls=http://" + member.peer.endpoint(),
      "--initial-advertise-peer-urls=" + peer_url(i),
      "--initial-cluster=" + everybody,
      "--initial-cluster-state=new",
      "--logger=zap",
      "--bcrypt-cost=4",
      "--heartbeat-interval=" + std::to_string(options_.heartbeat.count()),
      "--election-timeout=" + std::to_string(options_.election_timeout.count())};
  const std::string ttl = std::to_string(options_.token_ttl.count());
  if (options_.signed_tokens) {
    words.push_back("--auth-token=jwt,sign-method=RS256,pub-key=" + token_files_.cert +
                    ",priv-key=" + token_files_.key + ",ttl=" + ttl + "s");
  } else {
    words.push_back("--auth-token-ttl=" + ttl);
  }
  if (options_.tls) {
    const std::string files = *dir_ / ("pki/" + name(i));
    words.insert(words.end(), {"--client-cert-auth", "--trusted-ca-file=" + authority_->ca(),
                               "--cert-file=" + files + ".crt", "--key-file=" + files + ".key"});
  }
  words.insert(words.end(), options_.flags.begin(), options_.flags.end());
  return words;
}

void EtcdCluster::start(std::size_t i) {
  Member& member = *members_[i];
  member.process = std::make_unique<Child>(command(i), Child::Options{.log = *dir_ / name(i)});
  member.pid = member.process->pid();
  member.stopped = false;
}

std::string EtcdCluster::peer_url(std::size_t i) const {
  const Member& member = *members_[i];
  return "http://" + (member.peer_link ? member.peer_link->endpoint() : member.peer.endpoint());
}

std::size_t EtcdCluster::size() const noexcept { return members_.size(); }

std::string EtcdCluster::name(std::size_t member) {
  return "m" + std::to_string(member) + ".tenure.test";
}

std::string EtcdCluster::endpoint(std::size_t i) const {
  const Member& member = *members_.at(i);
  return member.client_link ? member.client_link->endpoint() : member.client.endpoint();
}

std::string EtcdCluster::member_endpoint(std::size_t member) const {
  return members_.at(member)->client.endpoint();
}

std::string EtcdCluster::endpoints() const {
  std::string all;
  for (std::size_t i = 0; i < size(); ++i) all += (i == 0 ? "" : ",") + endpoint(i);
  return all;
}

std::string EtcdCluster::url(const std::string& prefix) const {
  return "etcd://" + endpoints() + (prefix.empty() ? "" : "/" + prefix);
}

pid_t EtcdCluster::pid(std::size_t member) const { return members_.at(member)->pid; }
bool EtcdCluster::running(std::size_t member) { return members_.at(member)->process->running(); }
std::string EtcdCluster::log(std::size_t member) const {
  return members_.at(member)->process->err();
}

void EtcdCluster::kill(std::size_t i) {
  Member& member = *members_.at(i);
  member.process->kill();
  member.pid = -1;
}

void EtcdCluster::stop(std::size_t member) {
  members_.at(member)->process->send(SIGSTOP);
  members_[member]->stopped = true;
}

void EtcdCluster::resume(std::size_t member) {
  members_.at(member)->process->send(SIGCONT);
  members_[member]->stopped = false;
}

void EtcdCluster::restart(std::size_t member) {
  kill(member);
  start(member);
  if (!started_well(member)) throw RigError("the port of a stopped etcd was taken");
}

}  // namespace tenure::test
