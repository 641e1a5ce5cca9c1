// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The service manager's channel.
#include "tests/cli/harness.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A datagram socket in the place of the service manager's.
class Manager {
 public:
  explicit Manager(std::string name) {
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0;
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() { close(fd_); }

  [[nodiscard]] bool bound() const { return bound_; }

  bool hears(const std::string& wanted, Duration limit = kPatience) {
    return eventually(
        [&] {
          std::array<char, 1024> buffer{};
          ssize_t got = 0;
          while ((got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT)) > 0) {
            heard_ += std::string(buffer.data(), static_cast<std::size_t>(got)) + "\n";
          }
          return heard_.find(wanted) != std::string::npos;
        },
        limit, fd_);
  }
  void forget() { heard_.clear(); }
  [[nodiscard]] const std::string& heard() const { return heard_; }

 private:
  int fd_;
  bool bound_ = false;
  std::string heard_;
};

TEST(ServiceManager, HearsOfReadinessStatusProgressAndTheEnd) {
  const Bench bench;
  for (const std::string& name :
       {bench.dir / "notify", "@tenure-test-" + std::to_string(getpid())}) {
    Manager manager(name);
    ASSERT_TRUE(manager.bound());
    const auto run = bench.start("run", "15s", bench.worker(), {},
                                 {.env = {{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "200000"}}});
    EXPECT_TRUE(manager.hears("READY=1"));
    EXPECT_TRUE(manager.hears("STATUS=Leading"));
    EXPECT_TRUE(manager.hears("WATCHDOG=1"));
    manager.forget();
    EXPECT_TRUE(manager.hears("WATCHDOG=1")) << "again and again";
    run->send(SIGTERM);
    EXPECT_TRUE(manager.hears("STOPPING=1"));
    EXPECT_EQ(run->wait(), 128 + SIGTERM);
    manager.hears("\n\n", Duration::zero());
    const std::string last = manager.heard().substr(manager.heard().find("STOPPING=1"));
    EXPECT_EQ(last.find("STATUS=", last.find("STATUS=Ending") + 1), std::string::npos)
        << "it is not on its way to anything else: " << last;
  }
}

TEST(ServiceManager, ACommandThatEndsAfterAllIsOverIsNotSaidToBeFollowedByWaiting) {
  const Bench bench;
  const std::string name = bench.dir / "notify";
  Manager manager(name);
  ASSERT_TRUE(manager.bound());
  const auto run = bench.start("run", "15s", bench.worker({"--ignore-term"}), {"--grace", "100ms"},
                               {.env = {{"NOTIFY_SOCKET", name}}});
  ASSERT_TRUE(bench.wait_for("begin"));
  run->send(SIGTERM);
  EXPECT_EQ(run->wait(), 128 + SIGTERM);
  EXPECT_TRUE(manager.hears("STOPPING=1"));
  const std::string last = manager.heard().substr(manager.heard().find("STOPPING=1"));
  EXPECT_EQ(last, "STOPPING=1\nSTATUS=Ending\n");
}

// One thread of another process that is held where it is, as if it hung.
class HeldThread {
 public:
  explicit HeldThread(pid_t thread) : thread_(thread) {
    if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return;
    int status = 0;
    held_ = ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 &&
            waitpid(thread, &status, __WALL) == thread;
  }
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;
  ~HeldThread() {
    if (held_) ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
  }
  [[nodiscard]] bool held() const { return held_; }

 private:
  pid_t thread_;
  bool held_ = false;
};

pid_t thread_named(pid_t process, const std::string& name) {
  const std::filesystem::path tasks("/proc/" + std::to_string(process) + "/task");
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    if (read_file(task.path() / "comm") == name + "\n") {
      return std::atoi(task.path().filename().c_str());
    }
  }
  return -1;
}

TEST(ServiceManager, IsNotToldOfProgressThatTheLibrarysLoopDoesNotMake) {
  const Bench bench;
  const std::string name = bench.dir / "notify";
  Manager manager(name);
  ASSERT_TRUE(manager.bound());
  const auto run = bench.start("run", "15s", bench.worker(), {},
                               {.env = {{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "100000"}}});
  ASSERT_TRUE(bench.wait_for("begin"));
  ASSERT_TRUE(manager.hears("WATCHDOG=1"));
  const pid_t loop = thread_named(run->pid(), "tenure-loop");
  ASSERT_GT(loop, 0);
  {
    const HeldThread hung(loop);
    if (!hung.held()) GTEST_SKIP() << "this machine lets no test hold a thread";
    // What the loop did before it was held may be told once more.
    (void)manager.hears("nothing else", milliseconds(500));
    manager.forget();
    EXPECT_FALSE(manager.hears("WATCHDOG=1", seconds(1)));
  }
  EXPECT_TRUE(manager.hears("WATCHDOG=1")) << "and again once it moves";
}

}  // namespace
}  // namespace tenure::test
