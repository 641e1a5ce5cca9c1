// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/stores/etcd/rig/child.h"
#include "tests/stores/etcd/rig/cluster.h"

namespace tenure::test {

/// A candidate that is not ours: `etcdctl elect` or `etcdctl lock` in a process of its own, with
/// the certificates, and as root, that the cluster asks for.
///
///     const auto go = Etcdctl::elect(cluster, "job", "A");
///     ASSERT_TRUE(go->wait_leading());
///     go->release();
class Etcdctl {
 public:
  /// Has a session of 60 s, and leaves its lease behind when it releases.
  static std::unique_ptr<Etcdctl> elect(const EtcdCluster& cluster, const std::string& name,
                                        const std::string& value);
  static std::unique_ptr<Etcdctl> lock(const EtcdCluster& cluster, const std::string& name,
                                       int ttl_seconds = 10);
  /// `etcdctl lock` around a command that lives until release(), or the test, ends it.
  static std::unique_ptr<Etcdctl> lock_with_command(const EtcdCluster& cluster,
                                                    const std::string& name, int ttl_seconds = 10);
  ~Etcdctl();
  Etcdctl(const Etcdctl&) = delete;
  Etcdctl& operator=(const Etcdctl&) = delete;

  /// Whether it leads or holds by then. (It says so once: it does not say that it has lost.)
  [[nodiscard]] bool wait_leading(Duration limit = kPatience);
  [[nodiscard]] bool leading();
  /// Its key NAME/LEASE, once it leads; empty before.
  [[nodiscard]] std::string key();

  /// As a person would: SIGINT, or the end of the command. Waits until it has ended.
  void release();
  void kill();
  void send(int signal) { process_->send(signal); }
  [[nodiscard]] Child& process() { return *process_; }

 private:
  Etcdctl(const EtcdCluster& cluster, std::vector<std::string> words, bool with_command);

  bool with_command_;
  int command_ends_ = -1;  // the command ends when this is closed
  std::unique_ptr<ScratchDir> dir_;
  std::unique_ptr<Child> process_;
};

}  // namespace tenure::test
