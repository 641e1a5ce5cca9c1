// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The command that tests run under tenure. worker MARKS [FLAG...] appends one line for each thing
// that happens to MARKS, and holds an exclusive lock on MARKS.lock for its life, which its
// descendants share: "overlap" is written by whoever finds it taken.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/prctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

namespace {

struct Flags {
  bool ignore_term = false;
  bool daemon = false;
  bool leave_daemon = false;  // end, but leave the daemon behind
  bool keep_interrupt = false;
  int exit_now = -1;
  int exit_on_term = 0;
  int raise = 0;
};

int marks = -1;

long long boot_ns() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void mark(const std::string& text) {
  const std::string line = text + "\n";
  if (write(marks, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(98);
}

const char* variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "-";
}

Flags flags_of(int argc, char** argv) {
  Flags flags;
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag(argv[i]);
    const auto number = [&] { return atoi(argv[++i]); };
    if (flag == "--ignore-term") flags.ignore_term = true;
    if (flag == "--keep-interrupt") flags.keep_interrupt = true;
    if (flag == "--daemon") flags.daemon = true;
    if (flag == "--leave-daemon") flags.daemon = flags.leave_daemon = true;
    if (flag == "--exit") flags.exit_now = number();
    if (flag == "--exit-on-term") flags.exit_on_term = number();
    if (flag == "--raise") flags.raise = number();
  }
  return flags;
}

// A descendant in a session of its own, no longer our child, that ignores what it can.
void leave_daemon(int lock) {
  std::array<int, 2> ready{};
  if (pipe(ready.data()) != 0) _exit(97);
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    mark("daemon " + std::to_string(getpid()));
    close(ready[1]);
    close(ready[0]);
    (void)lock;  // open here too: the lock lives as long as this process
    for (;;) pause();
  }
  close(ready[1]);
  char end = 0;
  while (read(ready[0], &end, 1) < 0 && errno == EINTR) {
  }
  close(ready[0]);
}

void wait_for_signals(const Flags& flags, const sigset_t& all) {
  for (;;) {
    const int signal = sigwaitinfo(&all, nullptr);
    if (signal < 0 || signal == SIGCHLD) continue;
    mark("signal " + std::to_string(signal));
    if (signal == SIGTSTP) kill(getpid(), SIGSTOP);
    if (signal == SIGTERM && !flags.ignore_term) {
      mark(std::string("end ") + variable("TENURE_TOKEN"));
      _exit(flags.exit_on_term);
    }
    if (signal == SIGINT && !flags.keep_interrupt && !flags.ignore_term) _exit(5);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  sigset_t all;
  sigset_t inherited;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &inherited);
  const Flags flags = flags_of(argc, argv);
  marks = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int lock =
      open((std::string(argv[1]) + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (marks < 0 || lock < 0) return 96;
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) mark(std::string("overlap ") + variable("TENURE_TOKEN"));
  struct sigaction chld {};
  sigaction(SIGCHLD, nullptr, &chld);
  const bool clean = sigismember(&inherited, SIGTERM) == 0 && sigismember(&inherited, SIGCHLD) == 0;
  mark("group " + std::to_string(getpgrp()) + " " + std::to_string(getpid()));
  mark("foreground " + std::to_string(tcgetpgrp(0)));
  mark(std::string("mask ") + (clean ? "clean" : "blocked") + " " +
       (chld.sa_handler == SIG_DFL ? "default" : "ignored"));
  if (flags.daemon) leave_daemon(lock);
  mark(std::string("holder ") + variable("TENURE_ID"));
  mark(std::string("begin ") + variable("TENURE_TOKEN") + " " + std::to_string(boot_ns()) + " " +
       std::to_string(getpid()));
  if (flags.leave_daemon) _exit(flags.exit_now < 0 ? 0 : flags.exit_now);
  if (flags.exit_now >= 0) {
    mark(std::string("end ") + variable("TENURE_TOKEN"));
    _exit(flags.exit_now);
  }
  if (flags.raise != 0) {
    sigprocmask(SIG_SETMASK, &inherited, nullptr);
    signal(flags.raise, SIG_DFL);  // AddressSanitizer has taken some
    kill(getpid(), flags.raise);
  }
  wait_for_signals(flags, all);
}
