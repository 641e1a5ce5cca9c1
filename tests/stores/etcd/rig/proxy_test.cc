// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/proxy.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "tests/stores/etcd/rig/socket.h"
#include "tests/support/eventually.h"

namespace tenure::test {
namespace {

using std::chrono::milliseconds;

// A server without a thread: it has what the test accepts.
struct RigProxy : testing::Test {
  RigProxy() : listener(listen_on(port.address(), port.number())), proxy(port.endpoint()) {}
  ~RigProxy() override {
    for (const int fd : {listener, client, server}) {
      if (fd >= 0) ::close(fd);
    }
  }

  int accept_one() {
    int fd = -1;
    EXPECT_TRUE(eventually([&] { return (fd = ::accept(listener, nullptr, nullptr)) >= 0; }));
    return fd;
  }
  void connect() {
    client = begin_connect(proxy.endpoint());
    server = accept_one();
  }
  static void say(int fd, const std::string& text) {
    EXPECT_TRUE(eventually(
        [&] { return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0; }));
  }
  // What arrives within the limit; "" for the end, "reset" for a reset.
  static std::string hear(int fd, Duration limit = kPatience) {
    std::array<char, 4096> bytes{};
    ssize_t size = -1;
    int error = EAGAIN;
    if (!eventually(
            [&] {
              size = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
              error = size < 0 ? errno : 0;
              return error != EAGAIN && error != ENOTCONN;
            },
            limit)) {
      return "nothing";
    }
    return size < 0 ? "reset" : std::string(bytes.data(), static_cast<std::size_t>(size));
  }

  Port port;
  int listener;
  TcpProxy proxy;
  int client = -1;
  int server = -1;
};

TEST_F(RigProxy, PassesBothWaysAndTheEnd) {
  connect();
  say(client, "question");
  EXPECT_EQ(hear(server), "question");
  say(server, "answer");
  EXPECT_EQ(hear(client), "answer");
  ::shutdown(client, SHUT_WR);
  EXPECT_EQ(hear(server), "");
  say(server, "the rest");
  EXPECT_EQ(hear(client), "the rest");
  ::close(std::exchange(server, -1));
  EXPECT_EQ(hear(client), "");
  EXPECT_TRUE(eventually([&] { return proxy.counters().open == 0; }));
  const TcpProxy::Counters counters = proxy.counters();
  EXPECT_EQ(counters.accepted, 1);
  EXPECT_EQ(counters.to_server, 8);
  EXPECT_EQ(counters.to_client, 14);
  EXPECT_EQ(counters.swallowed, 0);
}

TEST_F(RigProxy, ABlackHoleSwallowsAndMendedResets) {
  connect();
  proxy.set(kBlackHole);
  say(client, "lost");
  EXPECT_TRUE(eventually([&] { return proxy.counters().swallowed == 4; }));
  ::close(std::exchange(server, -1));  // of which the client hears nothing
  EXPECT_EQ(hear(client, milliseconds(50)), "nothing");
  proxy.heal();
  EXPECT_EQ(hear(client), "reset");
}

TEST_F(RigProxy, ABlackHoleAcceptsNewConnections) {
  proxy.set(kBlackHole);
  connect();
  say(client, "lost");
  EXPECT_TRUE(eventually([&] { return proxy.counters().swallowed == 4; }));
  EXPECT_EQ(hear(server, milliseconds(20)), "nothing");
}

TEST_F(RigProxy, OnlyTheAnswersAreLost) {
  connect();
  proxy.set(kNoAnswers);
  say(client, "question");
  EXPECT_EQ(hear(server), "question");
  say(server, "answer");
  EXPECT_TRUE(eventually([&] { return proxy.counters().swallowed == 6; }));
  EXPECT_EQ(hear(client, milliseconds(20)), "nothing");
}

TEST_F(RigProxy, ACutWireDeliversWhenItIsMended) {
  connect();
  proxy.set(kCutWire);
  say(client, "late");
  EXPECT_EQ(hear(server, milliseconds(50)), "nothing");
  proxy.heal();
  EXPECT_EQ(hear(server), "late");
  say(server, "still there");
  EXPECT_EQ(hear(client), "still there");
}

TEST_F(RigProxy, DelaysEachDirectionByItsOwnTime) {
  connect();
  proxy.set({.to_server = {.delay = milliseconds(80)}, .to_client = {.delay = milliseconds(30)}});
  const Stopwatch there;
  say(client, "question");
  EXPECT_EQ(hear(server), "question");
  EXPECT_GE(there.elapsed(), milliseconds(80));
  const Stopwatch back;
  say(server, "answer");
  EXPECT_EQ(hear(client), "answer");
  EXPECT_GE(back.elapsed(), milliseconds(30));
}

TEST_F(RigProxy, CutResetsAllAndAcceptsNewOnes) {
  connect();
  proxy.cut();
  EXPECT_EQ(hear(client), "reset");
  EXPECT_EQ(hear(server), "reset");
  ::close(client);
  ::close(server);
  connect();
  say(client, "again");
  EXPECT_EQ(hear(server), "again");
}

TEST_F(RigProxy, CutsAgainAndAgain) {
  proxy.cut_every(milliseconds(20));
  for (int i = 0; i < 3; ++i) {
    connect();
    EXPECT_EQ(hear(client), "reset");
    ::close(client);
    ::close(server);
  }
  proxy.cut_every(Duration::zero());
  connect();
  EXPECT_EQ(hear(client, milliseconds(50)), "nothing");
}

TEST_F(RigProxy, RefusesNewConnectionsAndKeepsOldOnes) {
  connect();
  proxy.refuse();
  const int refused = begin_connect(proxy.endpoint());
  if (refused >= 0) {
    EXPECT_EQ(hear(refused), "reset");  // ECONNREFUSED
    ::close(refused);
  }
  say(client, "old");
  EXPECT_EQ(hear(server), "old");
  proxy.heal();
  const int accepted = begin_connect(proxy.endpoint());
  const int other = accept_one();
  say(accepted, "new");
  EXPECT_EQ(hear(other), "new");
  ::close(accepted);
  ::close(other);
}

TEST_F(RigProxy, ADeadServerResetsTheClient) {
  ::close(std::exchange(listener, -1));
  client = begin_connect(proxy.endpoint());
  EXPECT_EQ(hear(client), "reset");
}

TEST_F(RigProxy, CarriesMoreThanAnyBufferHolds) {
  connect();
  const std::string much(32U << 20, 'x');
  std::thread sender([&] {
    for (std::size_t sent = 0; sent < much.size();) {
      pollfd ready{client, POLLOUT, 0};
      ::poll(&ready, 1, -1);
      const ssize_t size = ::send(client, much.data() + sent, much.size() - sent, MSG_NOSIGNAL);
      if (size > 0) sent += static_cast<std::size_t>(size);
    }
    ::shutdown(client, SHUT_WR);
  });
  std::size_t received = 0;
  for (std::string part = hear(server); !part.empty(); part = hear(server)) received += part.size();
  sender.join();
  EXPECT_EQ(received, much.size());
}

TEST(RigProxyGroups, HaveLinksOfTheirOwn) {
  const Port port;
  const int listener = listen_on(port.address(), port.number());
  TcpProxy proxy(port.endpoint(), "127.0.0.1", [](int client_port) { return client_port / 2 % 2; });
  proxy.set_group(1, kBlackHole);
  int seen[2] = {0, 0};
  for (int i = 0; i < 200 && (seen[0] == 0 || seen[1] == 0); ++i) {
    const int client = begin_connect(proxy.endpoint());
    int server = -1;
    ASSERT_TRUE(eventually([&] { return (server = ::accept(listener, nullptr, nullptr)) >= 0; }));
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    ::getsockname(client, as_sockaddr(&own), &size);
    const bool passes =
        RigProxy::hear(server, Duration::zero()) == "nothing" &&
        (RigProxy::say(client, "x"), RigProxy::hear(server, milliseconds(30)) == "x");
    ++seen[passes ? 0 : 1];
    ::close(client);
    ::close(server);
  }
  EXPECT_GT(seen[0], 0);
  EXPECT_GT(seen[1], 0);
  EXPECT_EQ(proxy.counters().to_server, static_cast<std::uint64_t>(seen[0]));
  EXPECT_EQ(proxy.counters().swallowed, static_cast<std::uint64_t>(seen[1]));
  ::close(listener);
}

}  // namespace
}  // namespace tenure::test
