// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Users, permissions and tokens, as the rig sets them up.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tests/stores/etcd/rig/base64.h"
#include "tests/stores/etcd/rig/cluster.h"
#include "tests/stores/etcd/rig/http.h"

namespace tenure::test {
namespace {

using nlohmann::json;
using std::chrono::seconds;

std::string token_of_root(EtcdCluster& cluster) {
  const json request{{"name", "root"}, {"password", EtcdCluster::kRootPassword}};
  return Admin({cluster.endpoint(0)}).call("auth/authenticate", request).at("token");
}

// The status of a read with this token: 200, or 401 if the token is not good any more.
int read_with(EtcdCluster& cluster, const std::string& token) {
  HttpConnection connection(cluster.endpoint(0));
  const std::string body = json{{"key", to_base64("x")}}.dump();
  return connection.post("/v3/kv/range", body, {"Authorization: " + token}).status;
}

int status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Refused& refused) {
    return refused.status();
  }
  return 200;
}

TEST(RigAuth, UsersHaveTheRightsThatTheyAreGiven) {
  EtcdCluster cluster({.auth = true});
  Admin root = cluster.admin();
  root.add_user("tenure", "secret");
  root.add_role("elections");
  root.allow("elections", "election/", Admin::Right::both);
  root.give_role("tenure", "elections");

  Admin user({cluster.endpoint(0)});
  EXPECT_EQ(status_of([&] { user.put("election/a", "1"); }), 400) << "no user";
  user.as("tenure", "wrong");
  EXPECT_EQ(status_of([&] { user.put("election/a", "1"); }), 400) << "a wrong password";
  user.as("tenure", "secret");
  EXPECT_EQ(status_of([&] { user.put("election/a", "1"); }), 200);
  EXPECT_EQ(status_of([&] { user.put("other", "1"); }), 403);
  root.change_password("tenure", "new");
  EXPECT_EQ(status_of([&] { user.put("election/a", "1"); }), 400) << "the old password";
  user.as("tenure", "new");
  EXPECT_EQ(status_of([&] { user.put("election/a", "1"); }), 200);
}

TEST(RigAuth, ASignedTokenEndsAlsoWhenItIsUsed) {
  EtcdCluster cluster({.auth = true, .token_ttl = seconds(2), .signed_tokens = true});
  const std::string token = token_of_root(cluster);
  EXPECT_EQ(read_with(cluster, token), 200);
  const Stopwatch watch;
  EXPECT_TRUE(eventually([&] { return read_with(cluster, token) == 401; }));
  EXPECT_LT(watch.elapsed(), seconds(10));
  EXPECT_GT(cluster.admin().revision(), 0);
}

}  // namespace
}  // namespace tenure::test
