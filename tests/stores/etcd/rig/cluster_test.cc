// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/cluster.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

#include "tests/stores/etcd/rig/socket.h"

namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

ClusterOptions quick(std::size_t members) {
  return {.members = members, .heartbeat = milliseconds(50), .election_timeout = milliseconds(500)};
}

TEST(RigCluster, OneMemberKeepsItsDataOverAKill) {
  EtcdCluster cluster;
  Admin admin = cluster.admin();
  const std::int64_t lease = admin.grant(60);
  const std::int64_t first = admin.put("job/1", "A", lease);
  admin.put("job/2", "");
  admin.put("other", std::string("\0\xff", 2));
  cluster.kill(0);
  EXPECT_FALSE(cluster.running(0));
  EXPECT_THROW((void)admin.revision(), RigError);
  cluster.restart(0);

  EXPECT_EQ(admin.revision(), first + 2);
  const std::vector<Admin::Entry> jobs = admin.keys("job/");
  ASSERT_EQ(jobs.size(), 2);
  EXPECT_EQ(jobs[0].key, "job/1");
  EXPECT_EQ(jobs[0].value, "A");
  EXPECT_EQ(jobs[0].create_revision, first);
  EXPECT_EQ(jobs[0].lease, lease);
  EXPECT_EQ(jobs[1].value, "");
  EXPECT_EQ(admin.keys().size(), 3);
  EXPECT_EQ(admin.keys("other").at(0).value, std::string("\0\xff", 2));

  EXPECT_EQ(admin.leases(), std::vector<std::int64_t>{lease});
  EXPECT_EQ(admin.time_to_live(lease).granted, 60);
  EXPECT_EQ(admin.time_to_live(lease).keys, std::vector<std::string>{"job/1"});
  EXPECT_EQ(admin.keep_alive(lease), 60);
  admin.revoke(lease);
  EXPECT_EQ(admin.keys("job/").size(), 1);
  EXPECT_EQ(admin.keep_alive(lease), 0);
  EXPECT_EQ(admin.time_to_live(lease).left, -1);
  EXPECT_THROW(admin.revoke(lease), Refused);
}

TEST(RigCluster, ManyRevisionsAndACompaction) {
  EtcdCluster cluster;
  Admin admin = cluster.admin();
  const std::int64_t before = admin.revision();
  const std::int64_t last = admin.put_many("busy", 1000);
  EXPECT_EQ(last, before + 1000);
  admin.compact(last);
  try {
    admin.compact(before + 1);
    FAIL() << "an old revision is still there";
  } catch (const Refused& refused) {
    EXPECT_NE(std::string(refused.what()).find("has been compacted"), std::string::npos);
  }
}

TEST(RigCluster, ThreeMembersElectAnotherLeaderWhenTheFirstIsKilled) {
  EtcdCluster cluster(quick(3));
  const std::size_t first = cluster.wait_leader();
  cluster.admin().put("kept", "yes");
  cluster.kill(first);
  const std::size_t second = cluster.wait_leader();
  EXPECT_NE(second, first);
  EXPECT_EQ(cluster.admin().keys("kept").at(0).value, "yes");
  cluster.restart(first);
  cluster.wait_healthy();
  EXPECT_EQ(cluster.admin(first).keys("kept").at(0).value, "yes");
  cluster.move_leader(first);
  EXPECT_EQ(cluster.leader(), first);
}

TEST(RigCluster, AStoppedLeaderIsReplacedAndComesBackAsAFollower) {
  EtcdCluster cluster(quick(3));
  const std::size_t first = cluster.wait_leader();
  cluster.stop(first);
  const std::size_t second = cluster.wait_leader();
  EXPECT_NE(second, first);
  EXPECT_THROW((void)cluster.admin(first, milliseconds(100)).status(), RigError);
  cluster.resume(first);
  EXPECT_NE(cluster.wait_leader(), first);
}

TEST(RigCluster, AnIsolatedLeaderIsReplacedAndKnowsNoLeader) {
  ClusterOptions options = quick(3);
  options.peer_links = true;
  options.client_links = true;
  EtcdCluster cluster(options);
  const std::size_t first = cluster.wait_leader();
  cluster.isolate(first);
  EXPECT_NE(cluster.wait_leader(), first);
  Admin alone = cluster.admin(first);
  EXPECT_TRUE(eventually([&] { return alone.status().leader == 0; })) << "it steps down";
  EXPECT_NE(cluster.endpoint(first), cluster.member_endpoint(first));
  EXPECT_THROW((void)Admin({cluster.endpoint(first)}, milliseconds(200)).status(), RigError)
      << "its clients do not reach it either";
  cluster.heal();
  cluster.wait_healthy();
  (void)cluster.wait_leader();
  EXPECT_NE(Admin({cluster.endpoint(first)}).status().leader, 0U);
}

TEST(RigCluster, IsolatingAFollowerLeavesTheLeaderInItsPlace) {
  ClusterOptions options = quick(3);
  options.peer_links = true;
  EtcdCluster cluster(options);
  const std::size_t leader = cluster.wait_leader();
  const std::size_t follower = (leader + 1) % 3;
  const std::uint64_t term = cluster.admin(leader).status().term;
  cluster.isolate(follower);
  Admin alone = cluster.admin(follower);
  ASSERT_TRUE(eventually([&] { return alone.status().leader == 0; }));
  EXPECT_EQ(cluster.wait_leader(), leader);
  EXPECT_EQ(cluster.admin(leader).status().term, term);
  EXPECT_GT(cluster.admin().put("more", "x"), 0) << "the other two are a majority";
}

TEST(RigCluster, TwoSideBySideDoNotDisturbEachOther) {
  EtcdCluster one;
  EtcdCluster two;
  one.admin().put("a", "1");
  EXPECT_TRUE(two.admin().keys().empty());
}

TEST(RigCluster, TakesOtherPortsWhenItsOwnAreTaken) {
  int tries = 0;
  int listener = -1;
  EtcdCluster cluster({.ports_chosen = [&](const std::string& endpoint) {
    const auto colon = endpoint.find(':');
    if (tries++ == 0) {
      listener = listen_on(endpoint.substr(0, colon), std::stoi(endpoint.substr(colon + 1)));
    }
  }});
  EXPECT_EQ(tries, 2);
  EXPECT_GT(cluster.admin().put("a", "1"), 0);
  ::close(listener);
}

TEST(RigCluster, SaysWhyEtcdDoesNotStart) {
  try {
    EtcdCluster cluster({.flags = {"--no-such-flag"}});
    FAIL() << "started";
  } catch (const RigError& error) {
    EXPECT_NE(std::string(error.what()).find("no-such-flag"), std::string::npos) << error.what();
  }
}

TEST(RigCluster, ItsDataGoesWhereItIsTold) {
  const std::filesystem::path base = std::filesystem::temp_directory_path();
  const auto folders = [&] {
    std::ptrdiff_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(base)) {
      count += entry.path().filename().string().starts_with("tenure-etcd-");
    }
    return count;
  };
  const std::ptrdiff_t before = folders();
  {
    EtcdCluster cluster({.base = base});
    EXPECT_EQ(folders(), before + 1);
  }
  EXPECT_EQ(folders(), before);
}

}  // namespace
}  // namespace tenure::test
