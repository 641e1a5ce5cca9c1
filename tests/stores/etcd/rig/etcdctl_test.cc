// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/etcdctl.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tenure::test {
namespace {

using std::chrono::milliseconds;

// How many stand in line.
bool line_is(EtcdCluster& cluster, const std::string& name, std::size_t size) {
  return eventually([&] { return cluster.admin().keys(name + "/").size() == size; });
}

TEST(RigEtcdctl, CandidatesLeadInTheOrderOfTheirArrival) {
  EtcdCluster cluster;
  const auto first = Etcdctl::elect(cluster, "job", "A");
  ASSERT_TRUE(first->wait_leading());
  const auto second = Etcdctl::lock(cluster, "job");
  ASSERT_TRUE(line_is(cluster, "job", 2));
  const auto third = Etcdctl::lock_with_command(cluster, "job");
  ASSERT_TRUE(line_is(cluster, "job", 3));
  EXPECT_FALSE(second->leading());

  first->release();
  ASSERT_TRUE(second->wait_leading());
  EXPECT_EQ(second->key(), cluster.admin().keys("job/").at(0).key);
  EXPECT_FALSE(third->leading());
  second->release();
  ASSERT_TRUE(third->wait_leading());
  EXPECT_EQ(third->key(), cluster.admin().keys("job/").at(0).key);
  third->release();
  EXPECT_EQ(third->process().wait(), 0);
  EXPECT_TRUE(line_is(cluster, "job", 0));
}

TEST(RigEtcdctl, OneThatIsKilledLeavesItsPlaceWhenItsLeaseIsRevoked) {
  EtcdCluster cluster;
  const auto first = Etcdctl::elect(cluster, "job", "A");
  ASSERT_TRUE(first->wait_leading());
  const auto second = Etcdctl::elect(cluster, "job", "B");
  ASSERT_TRUE(line_is(cluster, "job", 2));
  first->kill();
  EXPECT_FALSE(second->wait_leading(milliseconds(50)));
  cluster.admin().revoke(cluster.admin().keys("job/").at(0).lease);
  EXPECT_TRUE(second->wait_leading());
}

TEST(RigEtcdctl, HasTheCertificateAndTheUserThatTheClusterAsksFor) {
  EtcdCluster cluster({.tls = true, .auth = true});
  const auto peer = Etcdctl::elect(cluster, "job", "A");
  EXPECT_TRUE(peer->wait_leading()) << peer->process().err();
}

TEST(RigEtcdctl, IsRefusedWithoutACertificate) {
  EtcdCluster cluster({.tls = true});
  ScratchDir dir;
  const auto ask = [&](const std::vector<std::string>& env) {
    Child child({"/usr/bin/etcdctl", "--command-timeout=500ms", "get", "x", "--dial-timeout=1s"},
                {.log = dir / "log", .env = env});
    return child.wait();
  };
  EXPECT_EQ(ask(cluster.etcdctl_env()), 0);
  EXPECT_NE(ask({"ETCDCTL_ENDPOINTS=https://" + cluster.endpoint(0),
                 "ETCDCTL_CACERT=" + cluster.authority().ca()}),
            0);

  Authority stranger(dir / "pki");
  const auto files = stranger.issue("client", {.common_name = "tenure"});
  EXPECT_NE(ask({"ETCDCTL_ENDPOINTS=https://" + cluster.endpoint(0),
                 "ETCDCTL_CACERT=" + cluster.authority().ca(), "ETCDCTL_CERT=" + files.cert,
                 "ETCDCTL_KEY=" + files.key}),
            0);

  // A member that shows another name is not believed, until its certificate is right again.
  cluster.issue_member(0, {.common_name = "x", .dns = {"wrong.tenure.test"}});
  EXPECT_NE(ask(cluster.etcdctl_env()), 0);
  cluster.issue_member(0, {.common_name = "x", .ips = {"127.0.0.1"}});
  EXPECT_EQ(ask(cluster.etcdctl_env()), 0);
}

}  // namespace
}  // namespace tenure::test
