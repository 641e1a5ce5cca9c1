// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/child.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <future>
#include <mutex>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "tests/stores/etcd/rig/error.h"
#include "tests/support/temp_dir.h"

namespace tenure::test {
namespace {

// PR_SET_PDEATHSIG fires when the THREAD that forked ends, not its process. So one thread forks
// for all tests, and it lives as long as the program.
class Forker {
 public:
  static Forker& the() {
    static Forker* forker = nullptr;  // never deleted: children must not lose their parent
    static pid_t owner = -1;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    // A forked test program has the object, but not its thread.
    if (std::exchange(owner, ::getpid()) != ::getpid()) forker = new Forker;
    return *forker;
  }

  pid_t run(std::packaged_task<pid_t()> task) {
    std::future<pid_t> result = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
    return result.get();
  }

 private:
  Forker() {
    std::thread([this] { work(); }).detach();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [this] { return !tasks_.empty(); });
      std::vector<std::packaged_task<pid_t()>> tasks = std::exchange(tasks_, {});
      lock.unlock();
      for (auto& task : tasks) task();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::packaged_task<pid_t()>> tasks_;
};

struct Image {
  std::vector<char*> arguments;
  std::vector<char*> environment;
  int in = -1;
  int out = -1;
  int err = -1;
  int held = -1;
  pid_t parent = -1;
};

// In the child of a program with threads: system calls only.
[[noreturn]] void become(const Image& image) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != image.parent) ::_exit(98);
  ::dup2(image.in, 0);
  ::dup2(image.out, 1);
  ::dup2(image.err, 2);
  if (image.held == 3) {
    ::fcntl(3, F_SETFD, 0);
  } else if (image.held >= 0) {
    ::dup2(image.held, 3);
  }
  // A connection of the test that a child kept open would not end when the test ends it.
  ::syscall(SYS_close_range, image.held >= 0 ? 4U : 3U, ~0U, 0U);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(image.arguments[0], image.arguments.data(), image.environment.data());
  ::_exit(99);
}

pid_t fork_into(const Image& image) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) become(image);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int open_log(const std::string& path) {
  // Above 3, so that it is not the place that `held` goes to.
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) throw RigError("cannot write " + path + ": " + std::strerror(errno));
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, 10);
  ::close(fd);
  return high;
}

}  // namespace

Child::Child(std::vector<std::string> command, Options options) : log_(std::move(options.log)) {
  const std::string program = command.at(0);
  std::vector<std::string> variables{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent",
                                     "LC_ALL=C"};
  variables.insert(variables.end(), options.env.begin(), options.env.end());
  Image image;
  image.arguments = pointers_to(command);
  image.environment = pointers_to(variables);
  image.in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  image.out = open_log(log_ + ".out");
  image.err = open_log(log_ + ".err");
  image.held = options.held;
  image.parent = ::getpid();

  pid_ = Forker::the().run(std::packaged_task<pid_t()>([&image] { return fork_into(image); }));
  ::close(image.in);
  ::close(image.out);
  ::close(image.err);
  if (pid_ < 0) throw RigError("cannot fork for " + program);
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
}

Child::~Child() {
  kill();
  ::close(pidfd_);
}

void Child::send(int signal) const {
  if (!code_) ::kill(pid_, signal);
}

void Child::kill() {
  send(SIGKILL);
  wait();
}

bool Child::running() { return !wait(Duration::zero()); }

std::optional<int> Child::wait(Duration limit) {
  if (code_) return code_;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  pollfd ended{pidfd_, POLLIN, 0};
  if (::poll(&ended, 1, static_cast<int>(ms)) != 1) return std::nullopt;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return code_;
}

std::string Child::out() const { return read_file(log_ + ".out"); }
std::string Child::err() const { return read_file(log_ + ".err"); }

std::vector<std::string> Child::lines() const {
  std::vector<std::string> whole;
  const std::string text = out();
  std::istringstream stream(text.substr(0, text.rfind('\n') + 1));
  for (std::string line; std::getline(stream, line);) whole.push_back(line);
  return whole;
}

std::optional<std::string> Child::wait_line(const std::function<bool(std::string_view)>& wanted,
                                            Duration limit) const {
  std::optional<std::string> found;
  const bool said = eventually(
      [&] {
        for (const std::string& line : lines()) {
          if (!wanted(line)) continue;
          found = line;
          return true;
        }
        return false;
      },
      limit);
  return said ? found : std::nullopt;
}

}  // namespace tenure::test
