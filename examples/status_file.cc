// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Several processes keep one status file up to date, and only one of them mostly writes.
//
//   status_file FILE NAME        start it several times, with different names, on one file
//
// Each prints a line when it writes, and when it begins to lead or to follow. Kill the one that
// writes: another takes over within the lease (5 s here). docs/writer-lease.md tells when to use
// one.

#include <tenure/clock.h>
#include <tenure/writer_lease.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;
using tenure::WorkEffect;
using tenure::WorkResult;
using tenure::WriterState;

std::atomic<bool> g_end{false};

// What all of them can work out by themselves: here which two seconds of time it is.
std::string wanted_text() {
  const auto since = tenure::system_clock().wall_now().time_since_epoch();
  return "status " + std::to_string(since / 2s) + "\n";
}

std::string read_text(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[256];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(fd);
  return text;
}

// Writes `text` unless somebody else writes at this very moment: that is the conflict.
WorkResult write_text(const std::string& path, const std::string& name, const std::string& text) {
  if (read_text(path) == text) return {WorkEffect::release};  // another was faster
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return {WorkEffect::none, true};
  WorkResult result{WorkEffect::release, true};
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
    const bool written = ftruncate(fd, 0) == 0 &&
                         write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    result = written ? WorkResult{WorkEffect::extend} : WorkResult{WorkEffect::none, true};
    if (written) std::printf("%s: wrote %s", name.c_str(), text.c_str());
    std::fflush(stdout);
  }
  close(fd);
  return result;
}

int run(const std::string& path, const std::string& name) {
  auto lease = tenure::WriterLease::create({.lease = 5s, .retry_interval = 500ms});
  if (!lease) {
    std::fprintf(stderr, "status_file: %s\n", lease.error().message.c_str());
    return 1;
  }
  lease->on_state_change([&](WriterState state) {
    std::printf("%s: %s\n", name.c_str(), state == WriterState::leading ? "leads" : "follows");
    std::fflush(stdout);
  });

  const int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  close(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (watch < 0 || inotify_add_watch(watch, path.c_str(), IN_CLOSE_WRITE) < 0) {
    std::fprintf(stderr, "status_file: cannot watch %s: %s\n", path.c_str(), std::strerror(errno));
    return 1;
  }

  std::string wanted;
  while (!g_end) {
    if (const std::string now = wanted_text(); now != wanted) {
      wanted = now;
      const auto ok = lease->try_work(
          "status", [&path, &name, text = wanted] { return write_text(path, name, text); });
      if (!ok) std::fprintf(stderr, "status_file: %s\n", ok.error().message.c_str());
    }
    pollfd polled{watch, POLLIN, 0};
    if (poll(&polled, 1, 100) > 0) {
      alignas(inotify_event) char events[4096];
      while (read(watch, events, sizeof(events)) > 0) {
      }
      // Somebody has written it, perhaps this process: then there is no such work any more.
      if (read_text(path) == wanted) lease->extend("status");
    }
  }
  close(watch);
  return lease->stop(1s) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: status_file FILE NAME\n");
    return 64;
  }
  const auto end = [](int) { g_end = true; };
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);
  return run(argv[1], argv[2]);
}
