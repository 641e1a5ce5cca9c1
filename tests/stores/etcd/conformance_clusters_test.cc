// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over every way to reach a cluster.
#include "tests/stores/etcd/world.h"

#include <tenure/testkit/store_conformance.h>

#include <cstdlib>

namespace tenure::testkit {
namespace {

std::unique_ptr<StoreWorld> three_members() {
  static test::EtcdCluster cluster({.members = 3, .client_links = true});
  return std::make_unique<EtcdWorld>(cluster, "");
}

std::unique_ptr<StoreWorld> tls() {
  static test::EtcdCluster cluster({.tls = true, .client_links = true});
  const auto& files = cluster.client_files();
  return std::make_unique<EtcdWorld>(
      cluster, "?ca=" + cluster.authority().ca() + "&cert=" + files.cert + "&key=" + files.key);
}

std::unique_ptr<StoreWorld> password() {
  static test::EtcdCluster cluster({.auth = true, .client_links = true});
  ::setenv("TENURE_ETCD_PASSWORD", test::EtcdCluster::kRootPassword, 1);
  return std::make_unique<EtcdWorld>(cluster, "?user=root");
}

INSTANTIATE_TEST_SUITE_P(Etcd, StoreConformance,
                         testing::Values(StoreUnderTest{"three_members", three_members},
                                         StoreUnderTest{"tls", tls},
                                         StoreUnderTest{"password", password}),
                         store_name);

}  // namespace
}  // namespace tenure::testkit
