// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/etcdctl.h"

#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "tests/stores/etcd/rig/error.h"

namespace tenure::test {

std::unique_ptr<Etcdctl> Etcdctl::elect(const EtcdCluster& cluster, const std::string& name,
                                        const std::string& value) {
  return std::unique_ptr<Etcdctl>(new Etcdctl(cluster, {"elect", name, value}, false));
}

std::unique_ptr<Etcdctl> Etcdctl::lock(const EtcdCluster& cluster, const std::string& name,
                                       int ttl_seconds) {
  return std::unique_ptr<Etcdctl>(
      new Etcdctl(cluster, {"lock", "--ttl=" + std::to_string(ttl_seconds), name}, false));
}

std::unique_ptr<Etcdctl> Etcdctl::lock_with_command(const EtcdCluster& cluster,
                                                    const std::string& name, int ttl_seconds) {
  // Descriptor 3 ends when the test closes it or is no more, whatever became of etcdctl.
  return std::unique_ptr<Etcdctl>(
      new Etcdctl(cluster,
                  {"lock", "--ttl=" + std::to_string(ttl_seconds), "--", name, "/bin/sh", "-c",
                   "echo \"$ETCD_LOCK_KEY\"; echo \"$ETCD_LOCK_REV\"; read -r line <&3; exit 0"},
                  true));
}

Etcdctl::Etcdctl(const EtcdCluster& cluster, std::vector<std::string> words, bool with_command)
    : with_command_(with_command), dir_(std::make_unique<ScratchDir>()) {
  std::vector<std::string> command{"/usr/bin/etcdctl"};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<std::string> env = cluster.etcdctl_env();
  Child::Options options{.log = *dir_ / "etcdctl", .env = std::move(env)};
  int ends[2] = {-1, -1};
  if (with_command) {
    if (::pipe2(ends, O_CLOEXEC) != 0) throw RigError("cannot make a pipe");
    options.held = ends[0];
    command_ends_ = ends[1];
  }
  process_ = std::make_unique<Child>(std::move(command), std::move(options));
  if (with_command) ::close(ends[0]);
}

Etcdctl::~Etcdctl() {
  if (command_ends_ >= 0) ::close(command_ends_);
}

// Both print the key, and the value or revision, when they lead.
bool Etcdctl::leading() { return process_->lines().size() >= 2; }

bool Etcdctl::wait_leading(Duration limit) {
  return eventually([&] { return leading(); }, limit);
}

std::string Etcdctl::key() { return leading() ? process_->lines().front() : std::string(); }

void Etcdctl::release() {
  if (with_command_ && leading()) {
    if (command_ends_ >= 0) ::close(std::exchange(command_ends_, -1));
  } else {
    process_->send(SIGINT);
  }
  if (!process_->wait()) throw RigError("etcdctl does not end: " + process_->err());
}

void Etcdctl::kill() { process_->kill(); }

}  // namespace tenure::test
