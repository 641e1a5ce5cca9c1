// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/world.h"

#include <tenure/testkit/store_conformance.h>

namespace tenure::testkit {
namespace {

std::unique_ptr<StoreWorld> single() {
  static test::EtcdCluster cluster({.client_links = true});
  return std::make_unique<EtcdWorld>(cluster, "");
}

INSTANTIATE_TEST_SUITE_P(Etcd, StoreConformance, testing::Values(StoreUnderTest{"single", single}),
                         store_name);

}  // namespace
}  // namespace tenure::testkit
