// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/cluster.h"

#include <tenure/clock.h>
#include <tenure/etcd_store.h>
#include <tenure/testkit/store_conformance.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace tenure::testkit {
namespace {

using std::chrono::milliseconds;

// One cluster for each way to set one up; each world has a part of its keys for itself.
test::EtcdCluster& plain_cluster() {
  static test::EtcdCluster cluster({.client_links = true});
  return cluster;
}

class EtcdWorld final : public RealTimeWorld {
 public:
  explicit EtcdWorld(test::EtcdCluster& cluster)
      : RealTimeWorld(system_clock()), cluster_(cluster), prefix_(next_prefix()) {}

  ~EtcdWorld() override {
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      cluster_.resume(i);
      cluster_.client_link(i).heal();
    }
  }
  EtcdWorld(const EtcdWorld&) = delete;
  EtcdWorld& operator=(const EtcdWorld&) = delete;

  [[nodiscard]] std::shared_ptr<LeaseStore> open() override {
    const auto options = parse_etcd_url(cluster_.url(prefix_));
    EXPECT_TRUE(options.has_value()) << options.error().message;
    auto store = open_etcd_store(*options, executor_);
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return std::move(*store);
  }

  // etcd's own least ttl is 2 s, and it looks for expired leases twice a second.
  [[nodiscard]] Duration ttl() const override { return std::chrono::seconds(2); }
  [[nodiscard]] Duration slack() const override { return milliseconds(1000); }
  [[nodiscard]] Duration tick() const override { return milliseconds(500); }

  bool force_delete(const std::string& election) override {
    cluster_.admin().remove(head(election).key);
    return true;
  }

  bool force_takeover(const std::string& election) override {
    auto admin = cluster_.admin();
    const std::string key = head(election).key;
    const std::int64_t lease = admin.grant(60);
    admin.put(prefix_ + "/" + election + "/ffff", "usurper", lease);
    admin.remove(key);
    return true;
  }

  bool set_stalled(bool stalled) override {
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      if (stalled) {
        cluster_.stop(i);
      } else {
        cluster_.resume(i);
      }
    }
    return true;
  }

  // Watchers are back before the test goes on: what is sent on a wire that is being cut has an
  // unknown outcome. (Who has nothing to wait for connects when he needs to.)
  bool cut_watches() override {
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      test::TcpProxy& link = cluster_.client_link(i);
      const auto before = link.counters();
      link.cut();
      EXPECT_TRUE(pump([&] { return link.counters().accepted > before.accepted; }, patience()));
    }
    return true;
  }

 private:
  static std::string next_prefix() {
    static int worlds = 0;
    return "w" + std::to_string(++worlds);
  }

  [[nodiscard]] test::Admin::Entry head(const std::string& election) {
    return cluster_.admin().keys(prefix_ + "/" + election + "/").at(0);
  }

  test::EtcdCluster& cluster_;
  const std::string prefix_;
};

INSTANTIATE_TEST_SUITE_P(Etcd, StoreConformance,
                         testing::Values(StoreUnderTest{
                             "single",
                             [] { return std::make_unique<EtcdWorld>(plain_cluster()); }}),
                         store_name);

}  // namespace
}  // namespace tenure::testkit
