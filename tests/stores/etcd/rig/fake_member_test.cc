// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The fake is asked by etcdctl, which did not learn the protocol from us.
#include "tests/stores/etcd/rig/fake_member.h"

#include <gtest/gtest.h>

#include "tests/stores/etcd/rig/child.h"
#include "tests/stores/etcd/rig/fake_store.h"
#include "tests/stores/etcd/rig/scratch.h"

namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct RigFakeMember : testing::Test {
  std::unique_ptr<Child> start(std::vector<std::string> words,
                               const std::vector<std::string>& env = {}) {
    words.insert(words.begin(), {"/usr/bin/etcdctl", "--command-timeout=20s"});
    Child::Options options{.log = dir / ("log" + std::to_string(++serial)), .env = env};
    options.env.push_back("ETCDCTL_ENDPOINTS=http://" + fake.endpoint());
    return std::make_unique<Child>(std::move(words), options);
  }
  // What it says, or its error.
  std::string ask(std::vector<std::string> words, const std::vector<std::string>& env = {}) {
    const auto child = start(std::move(words), env);
    return child->wait() == 0 ? child->out() : child->err();
  }

  ScratchDir dir;
  FakeMember fake;
  int serial = 0;
};

TEST_F(RigFakeMember, HoldsKeysAsEtcdDoes) {
  const std::int64_t before = fake.revision();
  EXPECT_EQ(ask({"put", "job/1", "A"}), "OK\n");
  EXPECT_EQ(fake.keys("job/").at(0).value, "A");
  EXPECT_EQ(fake.keys("job/").at(0).create_revision, before + 1);
  EXPECT_EQ(fake.put("job/2", "B"), before + 2);
  EXPECT_EQ(ask({"get", "--prefix", "job/"}), "job/1\nA\njob/2\nB\n");
  EXPECT_EQ(ask({"del", "job/1"}), "1\n");
  EXPECT_EQ(fake.revision(), before + 3);
}

TEST_F(RigFakeMember, AnElectionCanBeHeldOnIt) {
  const auto first = start({"elect", "job", "A"});
  const auto leads = [](std::string_view line) { return line == "A" || line == "B"; };
  ASSERT_TRUE(first->wait_line(leads)) << first->err();
  const auto second = start({"elect", "job", "B"});
  ASSERT_TRUE(eventually([&] { return fake.keys("job/").size() == 2; }));
  EXPECT_FALSE(second->wait_line(leads, milliseconds(50)));
  EXPECT_GE(fake.open(Call::watch), 1);
  EXPECT_GE(fake.open(Call::keep_alive), 2);
  fake.expire(fake.keys("job/").at(0).lease);
  EXPECT_TRUE(second->wait_line(leads)) << "the watch has told it";
}

TEST_F(RigFakeMember, HeldEventsComeWhenTheyAreLetGo) {
  const auto watch = start({"watch", "x"});
  ASSERT_TRUE(fake.wait_calls(Call::watch, 1));
  fake.hold_events(true);
  fake.put("x", "1");
  const auto told = [](std::string_view line) { return line == "1"; };
  EXPECT_FALSE(watch->wait_line(told, milliseconds(50)));
  fake.hold_events(false);
  EXPECT_TRUE(watch->wait_line(told));
  fake.remove("x");
  EXPECT_TRUE(watch->wait_line([](std::string_view line) { return line == "DELETE"; }));
}

TEST_F(RigFakeMember, AWatchFromACompactedRevisionIsCancelled) {
  for (int i = 0; i < 10; ++i) fake.put("x", std::to_string(i));
  fake.compact(fake.revision());
  const std::string said = ask({"watch", "x", "--rev=3"});
  EXPECT_NE(said.find("compacted"), std::string::npos) << said;
}

TEST_F(RigFakeMember, AScriptedErrorComesAsManyTimesAsItSays) {
  fake.script(
      Call::put,
      {.takes_effect = false, .code = 7, .message = "etcdserver: permission denied", .times = 1});
  EXPECT_NE(ask({"put", "a", "1"}).find("permission denied"), std::string::npos);
  EXPECT_TRUE(fake.keys().empty());
  EXPECT_EQ(ask({"put", "a", "1"}), "OK\n");
}

TEST_F(RigFakeMember, AnAnswerCanBeLostThoughTheCallTakesEffect) {
  fake.script(Call::put, {.answers = false});
  const auto child = start({"put", "a", "1"});
  EXPECT_TRUE(eventually([&] { return !fake.keys("a").empty(); }));
  EXPECT_EQ(fake.open(Call::put), 1);
  EXPECT_EQ(child->wait(milliseconds(50)), std::nullopt);
  child->kill();
  EXPECT_TRUE(eventually([&] { return fake.open(Call::put) == 0; })) << "it gave up";
}

TEST_F(RigFakeMember, AnAnswerCanBeLateOrALie) {
  fake.script(Call::put, {.takes_effect = false, .after = milliseconds(200)});
  const Stopwatch watch;
  EXPECT_EQ(ask({"put", "a", "1"}), "OK\n");
  EXPECT_GE(watch.elapsed(), milliseconds(200));
  EXPECT_TRUE(fake.keys().empty());
}

TEST_F(RigFakeMember, HeadersAndTtlsAreWhatTheScriptSays) {
  fake.set_term(9);
  EXPECT_NE(ask({"get", "x", "-w=json"}).find("\"raft_term\":9"), std::string::npos);
  fake.script(Call::range, {.raft_term = 3});
  EXPECT_NE(ask({"get", "x", "-w=json"}).find("\"raft_term\":3"), std::string::npos);
  fake.script(Call::grant, {.ttl = 77});
  EXPECT_NE(ask({"lease", "grant", "5"}).find("TTL(77s)"), std::string::npos);
  fake.unscript(Call::range);
  fake.script(Call::range, {.edit = [](google::protobuf::MessageLite& message) {
                dynamic_cast<fake::RangeResponse&>(message).add_kvs()->set_key("made up");
              }});
  EXPECT_EQ(ask({"get", "x"}), "made up\n\n");
}

TEST_F(RigFakeMember, ALeaseThatIsForgottenIsNotKeptAlive) {
  const std::string said = ask({"lease", "grant", "5"});
  const std::string id = said.substr(6, 16);
  EXPECT_NE(ask({"lease", "keep-alive", "--once", id}).find("keepalived"), std::string::npos);
  fake.forget_lease(std::stoll(id, nullptr, 16));
  EXPECT_NE(ask({"lease", "keep-alive", "--once", id}).find("lease not found"), std::string::npos);
}

TEST_F(RigFakeMember, AsksForATokenWhenUsersMustLogIn) {
  fake.require_login("tenure", "secret");
  EXPECT_NE(ask({"get", "x"}).find("user name is empty"), std::string::npos);
  EXPECT_NE(ask({"get", "x"}, {"ETCDCTL_USER=tenure:wrong"}).find("authentication failed"),
            std::string::npos);
  const std::size_t without = fake.without_token(Call::range);
  EXPECT_EQ(ask({"get", "x"}, {"ETCDCTL_USER=tenure:secret"}), "");
  EXPECT_EQ(fake.without_token(Call::range), without);
}

TEST_F(RigFakeMember, EndsStreamsWithTheStatusThatItIsTold) {
  const auto watch = start({"watch", "x"});
  ASSERT_TRUE(fake.wait_calls(Call::watch, 1));
  fake.end_calls(Call::watch, 14, "etcdserver: server stopped");
  EXPECT_TRUE(fake.wait_calls(Call::watch, 2)) << "the Go client asks again";
}

TEST_F(RigFakeMember, WithoutALeaderItSaysSo) {
  fake.set_leader(false);
  EXPECT_NE(ask({"put", "a", "1"}).find("no leader"), std::string::npos);
  EXPECT_TRUE(fake.keys().empty());
  EXPECT_NE(ask({"endpoint", "status", "-w=json"}).find("no leader"), std::string::npos);
}

TEST_F(RigFakeMember, CanBeStoppedAndStartedOnItsPort) {
  fake.put("kept", "1");
  fake.stop();
  EXPECT_NE(ask({"get", "kept", "--dial-timeout=300ms", "--command-timeout=300ms"}), "kept\n1\n");
  fake.start();
  EXPECT_EQ(ask({"get", "kept"}), "kept\n1\n");
}

}  // namespace
}  // namespace tenure::test
