// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/etcd_store.h>
#include <tenure/testkit/store_world.h>

#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "tests/stores/etcd/rig/cluster.h"

namespace tenure::testkit {

/// A part of the keys of a running cluster, with links to its clients. Several worlds may share a
/// cluster. `query` is put after the URL.
class EtcdWorld final : public RealTimeWorld {
 public:
  EtcdWorld(test::EtcdCluster& cluster, std::string query)
      : RealTimeWorld(system_clock()),
        cluster_(cluster),
        prefix_(next_prefix()),
        query_(std::move(query)) {}

  ~EtcdWorld() override {
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      cluster_.resume(i);
      cluster_.client_link(i).heal();
    }
  }
  EtcdWorld(const EtcdWorld&) = delete;
  EtcdWorld& operator=(const EtcdWorld&) = delete;

  [[nodiscard]] std::shared_ptr<LeaseStore> open() override {
    const auto options = parse_etcd_url(cluster_.url(prefix_) + query_);
    EXPECT_TRUE(options.has_value()) << options.error().message;
    auto store = open_etcd_store(*options, executor_);
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return std::move(*store);
  }

  // etcd's own least ttl is 2 s, and it looks for expired leases twice a second.
  [[nodiscard]] Duration ttl() const override { return std::chrono::seconds(2); }
  [[nodiscard]] Duration slack() const override { return std::chrono::milliseconds(1000); }
  [[nodiscard]] Duration tick() const override { return std::chrono::milliseconds(500); }

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
    const std::size_t before = accepted();
    for (std::size_t i = 0; i < cluster_.size(); ++i) cluster_.client_link(i).cut();
    EXPECT_TRUE(pump([&] { return accepted() > before; }, patience()));
    return true;
  }

 private:
  [[nodiscard]] std::size_t accepted() {
    std::size_t all = 0;
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      all += cluster_.client_link(i).counters().accepted;
    }
    return all;
  }

  static std::string next_prefix() {
    static int worlds = 0;
    return "w" + std::to_string(++worlds);
  }

  [[nodiscard]] test::Admin::Entry head(const std::string& election) {
    return cluster_.admin().keys(prefix_ + "/" + election + "/").at(0);
  }

  test::EtcdCluster& cluster_;
  const std::string prefix_;
  const std::string query_;
};

}  // namespace tenure::testkit
