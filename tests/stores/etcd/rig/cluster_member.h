// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

#include "tests/stores/etcd/rig/child.h"
#include "tests/stores/etcd/rig/cluster.h"
#include "tests/stores/etcd/rig/port.h"
#include "tests/stores/etcd/rig/proxy.h"

namespace tenure::test {

struct EtcdCluster::Member {
  explicit Member(const std::string& address) : client(address), plain(address), peer(address) {}

  Port client;
  Port plain;  // for the rig, when clients need TLS
  Port peer;
  std::unique_ptr<TcpProxy> client_link;
  std::unique_ptr<TcpProxy> peer_link;
  std::unique_ptr<Child> process;
  std::atomic<pid_t> pid = -1;  // read by the threads of the proxies
  bool stopped = false;
  bool isolated = false;
};

}  // namespace tenure::test
