// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guardian.h"

#include "cli/descendants.h"
#include "cli/find_command.h"
#include "cli/guardian_process.h"
#include "cli/launch.h"
#include "cli/signals.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace tenure::cli::guardian {
namespace {

constexpr int kSweepMs = 2;

}  // namespace

std::int64_t boot_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool Guardian::set_up() noexcept {
  prctl(PR_SET_NAME, "tenure-guard");
  take_over_signals();
  signals_ = open_signal_fd();
  timer_ = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  return fcntl(socket_, F_SETFD, FD_CLOEXEC) == 0 && become_subreaper() && signals_ >= 0 &&
         timer_ >= 0;
}

int Guardian::run() {
  if (!set_up()) {
    say(Verb::failed, errno);
    return 1;
  }
  while (state_ != State::over) {
    arm();
    std::array<pollfd, 3> ready{pollfd{socket_, POLLIN, 0}, pollfd{signals_, POLLIN, 0},
                                pollfd{timer_, POLLIN, 0}};
    poll(ready.data(), ready.size(), state_ == State::killing ? kSweepMs : -1);
    // The socket first: a renewal that has arrived counts before a timer that was set without it.
    if (ready[0].revents != 0) handle_socket();
    if (ready[1].revents != 0) handle_signals();
    handle_timer();
    if (state_ == State::killing) sweep();
  }
  return 0;
}

void Guardian::handle_socket() {
  for (;;) {
    Message message;
    iovec data{&message, sizeof message};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket_, &header, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got != ssize_t{sizeof message}) {  // tenure has ended, however that came about
      if (state_ == State::waiting) state_ = State::over;
      if (state_ != State::over) begin_killing();
      close(socket_);
      socket_ = -1;
      return;
    }
    if (const cmsghdr* part = CMSG_FIRSTHDR(&header)) {
      std::memcpy(&kept_fd_, CMSG_DATA(part), sizeof kept_fd_);
    }
    handle(message);
    if (state_ == State::over) return;
  }
}

void Guardian::handle(const Message& message) {
  switch (message.verb) {
    case Verb::start:
      if (state_ == State::waiting) start(message);
      break;
    case Verb::deadline:
      if (state_ == State::running) deadline_ = std::max(deadline_, message.deadline);
      say(Verb::known);
      break;
    case Verb::stop:
      if (state_ == State::waiting) state_ = State::over;
      if (state_ == State::running) ask_to_stop();
      break;
    case Verb::kill:
      if (state_ == State::waiting) state_ = State::over;
      if (state_ != State::over) begin_killing();
      break;
    case Verb::signal:
      if (state_ == State::running || state_ == State::stopping) kill(-pid_, message.number);
      break;
    case Verb::resume:
      if (state_ == State::running) {
        terminal_.give_again();
        kill(-pid_, SIGCONT);
      }
      break;
    default:
      break;
  }
}

void Guardian::start(const Message& message) {
  deadline_ = message.deadline;
  grace_ = message.grace;
  margin_ = message.margin;
  if (boot_now() >= kill_due()) {
    say(Verb::late);
    state_ = State::over;
    return;
  }
  say(Verb::starting);
  setenv("TENURE_TOKEN", std::to_string(message.token).c_str(), 1);
  setenv("TENURE_TTL_MS", std::to_string(message.ttl_ms).c_str(), 1);
  const FoundCommand found = find_command(*command_);
  if (found.error != 0) {
    say(Verb::failed, found.error);
    state_ = State::over;
    return;
  }
  const int terminal = terminal_.to_hand_over();
  // From its first instruction on, what the terminal sends to the command is witnessed.
  const Launched launched = launch(found.path.c_str(), command_, terminal, hangup_ignored(),
                                   [this](pid_t group) { terminal_.witness(group); });
  if (launched.error != 0) {
    if (terminal >= 0) {
      terminal_.restore();
      terminal_.leave_group();
    }
    say(Verb::failed, launched.error);
    state_ = State::over;
    return;
  }
  pid_ = launched.pid;
  state_ = State::running;
  say(Verb::started, pid_);
}

void Guardian::handle_signals() {
  signalfd_siginfo info{};
  while (read(signals_, &info, sizeof info) == ssize_t{sizeof info}) {
    const int signal = static_cast<int>(info.ssi_signo);
    // What people send to this process is not for it; what the terminal sends to the command's
    // group, which this process may have joined, tenure must hear of.
    if (signal != SIGCHLD && info.ssi_code == SI_KERNEL && is_ending_signal(signal)) {
      say(Verb::terminal, signal);
    }
  }
  look_at_children();
}

std::int64_t Guardian::kill_due() const noexcept {
  const std::int64_t by_deadline = deadline_ - margin_;
  if (stop_asked_at_ == kNeverNs) return by_deadline;
  return std::min(by_deadline, stop_asked_at_ + grace_);
}

// So that the command has the whole grace, and the killing after it the margin.
std::int64_t Guardian::stop_due() const noexcept { return deadline_ - margin_ - grace_; }

std::int64_t Guardian::next_due() const noexcept {
  if (state_ == State::running) return std::min(stop_due(), kill_due());
  return state_ == State::stopping ? kill_due() : kNeverNs;
}

void Guardian::arm() noexcept {
  const std::int64_t due = next_due();
  itimerspec when{};
  if (due != kNeverNs) {
    const std::int64_t at = std::max<std::int64_t>(due, 1);
    when.it_value.tv_sec = at / 1'000'000'000;
    when.it_value.tv_nsec = at % 1'000'000'000;
  }
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
}

void Guardian::handle_timer() {
  if (state_ != State::running && state_ != State::stopping) return;
  const std::int64_t now = boot_now();
  if (now >= kill_due()) {
    begin_killing();
  } else if (state_ == State::running && now >= stop_due()) {
    ask_to_stop();
  }
}

// Never waits: tenure may be stopped, and the deadline does not wait for it.
void Guardian::say(Verb verb, int number) noexcept {
  Message message;
  message.verb = verb;
  message.number = number;
  message.deadline = deadline_;
  message.asked = state_ == State::stopping || state_ == State::killing;
  send(socket_, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int main_of_guardian(int argc, char** argv) {
  if (argc < 5) return 1;
  Guardian guardian(std::atoi(argv[2]), std::atoi(argv[3]), argv + 4);
  return guardian.run();
}

}  // namespace tenure::cli::guardian
