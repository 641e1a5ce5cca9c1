// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The small parts of the rig.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/stores/etcd/rig/base64.h"
#include "tests/stores/etcd/rig/error.h"
#include "tests/stores/etcd/rig/http.h"
#include "tests/stores/etcd/rig/port.h"
#include "tests/stores/etcd/rig/scratch.h"
#include "tests/stores/etcd/rig/socket.h"
#include "tests/support/temp_dir.h"

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

TEST(RigBase64, IsWhatTheStandardSays) {
  for (const auto& [bytes, text] : {std::pair<std::string, std::string>{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {std::string("\0\xff\xfe", 3), "AP/+"}}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(RigPort, IsNobodyElsesWhileItIsKept) {
  std::set<int> numbers;
  std::vector<Port> kept;
  for (int i = 0; i < 50; ++i) {
    kept.emplace_back();
    EXPECT_TRUE(numbers.insert(kept.back().number()).second);
  }
}

TEST(RigPort, IsKeptFromOtherProcesses) {
  const Port mine;
  const pid_t pid = ::fork();
  if (pid == 0) {
    // The other one looks at every number and still does not get ours.
    bool taken = false;
    for (int i = 0; i < 14'100 && !taken; ++i) taken = Port().number() == mine.number();
    ::_exit(taken ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(RigPort, IsNotOneThatSomebodyListensOn) {
  const Port port;
  const int listener = listen_on(port.address(), port.number());
  ASSERT_GE(listener, 0);
  EXPECT_EQ(listen_on(port.address(), port.number()), -1);
  ::close(listener);
}

TEST(RigScratch, IsGoneWithAllThatIsInIt) {
  fs::path path;
  {
    const ScratchDir dir;
    path = dir.path();
    std::ofstream(dir / "file") << "content";
    EXPECT_TRUE(fs::exists(path / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(RigScratch, TheNextProgramRemovesWhatACrashedOneLeft) {
  const TempDir base;
  const ScratchDir in_use(base.path());
  std::string left;
  {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      const ScratchDir dir(base.path());
      const std::string path = dir.path().string();
      ::_exit(::write(ends[1], path.data(), path.size()) > 0 ? 0 : 1);  // without a destructor
    }
    ::waitpid(pid, nullptr, 0);
    char path[256];
    const ssize_t size = ::read(ends[0], path, sizeof path);
    ASSERT_GT(size, 0);
    left.assign(path, static_cast<std::size_t>(size));
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ASSERT_TRUE(fs::exists(left));
  const ScratchDir next(base.path());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(in_use.path())) << "somebody uses it";
}

TEST(RigHttp, SaysWhenNobodyListens) {
  const Port port;
  EXPECT_THROW(HttpConnection(port.endpoint()).get("/health"), RigError);
}

TEST(RigHttp, GivesUpAtItsLimit) {
  const Port port;
  const int listener = listen_on(port.address(), port.number());
  const Stopwatch watch;
  EXPECT_THROW(HttpConnection(port.endpoint(), std::chrono::milliseconds(50)).get("/"), RigError);
  EXPECT_GE(watch.elapsed(), std::chrono::milliseconds(50));
  ::close(listener);
}

TEST(RigSocket, KnowsWhoseConnectionItIs) {
  const Port port;
  const int listener = listen_on(port.address(), port.number());
  const int client = begin_connect(port.endpoint());
  int server = -1;
  ASSERT_TRUE(eventually([&] { return (server = ::accept(listener, nullptr, nullptr)) >= 0; }));
  EXPECT_TRUE(owns_port(::getpid(), peer_port(server)));
  EXPECT_FALSE(owns_port(::getppid(), peer_port(server)));
  ::close(server);
  ::close(client);
  ::close(listener);
}

}  // namespace
}  // namespace tenure::test
