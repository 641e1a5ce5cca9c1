// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guardian.h"

#include "cli/descendants.h"
#include "cli/guardian_protocol.h"
#include "cli/launch.h"
#include "cli/signals.h"
#include "cli/terminal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
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
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

// The guardian is the command's parent. It exists because `tenure` itself may be stopped, hang or
// be killed, and the command must be dead by the deadline even then. So it is small: one thread, a
// loop over a socket, its signals and a timer, and no code of the library.
namespace tenure::cli::guardian {
namespace {

constexpr std::int64_t kNeverNs = INT64_MAX;
constexpr int kSweepMs = 2;

std::int64_t boot_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class Guardian {
 public:
  Guardian(int socket, pid_t job_group, char** command)
      : socket_(socket), terminal_(job_group), command_(command) {}

  int run();

 private:
  enum class State {
    waiting,   // for the word to start
    running,   // CMD runs
    stopping,  // TERM was sent; KILL follows at kill_due()
    killing,   // KILL is sent until nothing is left
    over,
  };

  bool set_up() noexcept;
  void handle_socket();
  void handle(const Message& message);
  void handle_signals();
  void handle_timer();
  void start(const Message& message);
  void command_stopped(int signal);
  void look_at_children();
  void ask_to_stop();
  void ask_leftovers();
  void begin_killing();
  void sweep();
  void finish();
  void say(Verb verb, int number = 0) noexcept;
  [[nodiscard]] std::int64_t kill_due() const noexcept;
  [[nodiscard]] std::int64_t next_due() const noexcept;
  void arm() noexcept;

  int socket_;
  Terminal terminal_;
  char** const command_;
  int signals_ = -1;
  int timer_ = -1;
  int kept_fd_ = -1;  // the store's; the command inherits it
  State state_ = State::waiting;
  pid_t pid_ = -1;
  bool command_ended_ = false;
  std::int64_t deadline_ = kNeverNs;
  std::int64_t grace_ = 0;
  std::int64_t margin_ = 0;
  std::int64_t stop_asked_at_ = kNeverNs;
  std::vector<pid_t> asked_;  // orphans that were sent TERM
};

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
  setenv("TENURE_TOKEN", std::to_string(message.token).c_str(), 1);
  setenv("TENURE_TTL_MS", std::to_string(message.ttl_ms).c_str(), 1);
  const int terminal = terminal_.to_hand_over();
  // From its first instruction on, what the terminal sends to the command is witnessed.
  const Launched launched = launch(command_, terminal, hangup_ignored(),
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

void Guardian::look_at_children() {
  if (state_ == State::waiting || state_ == State::over) return;
  // The command stays a zombie until all else is gone: its number, and so its group's, cannot go
  // to a stranger while signals are sent to it.
  siginfo_t info{};
  while (!command_ended_) {
    info.si_pid = 0;
    const auto id = static_cast<id_t>(pid_);
    if (waitid(P_PID, id, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == pid_) {
      command_stopped(info.si_status);
      continue;
    }
    info.si_pid = 0;
    if (waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_) break;
    command_ended_ = true;
    terminal_.take_back();
    const int status = info.si_code == CLD_EXITED ? (info.si_status & 0xFF) << 8 : info.si_status;
    say(Verb::ended, status);
  }
  bool alone = true;
  for (const pid_t child : children_of_this_process()) {
    if (child != pid_ && waitpid(child, nullptr, WNOHANG) != child) alone = false;
  }
  if (alone && command_ended_) finish();
  if (command_ended_ && (state_ == State::running || state_ == State::stopping)) ask_leftovers();
}

void Guardian::finish() {
  if (pid_ > 0) waitpid(pid_, nullptr, 0);
  pid_ = -1;
  // The list of children is read from /proc; this is the kernel's own word.
  if (waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD) {
    begin_killing();
    return;
  }
  say(Verb::gone);
  state_ = State::over;
}

void Guardian::command_stopped(int signal) {
  const bool wants_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (wants_terminal && terminal_.give_to(pid_)) {
    terminal_.witness(pid_);
    kill(-pid_, SIGCONT);
    return;
  }
  const bool by_terminal = terminal_.present() && (wants_terminal || signal == SIGTSTP);
  if (terminal_.take_back() || by_terminal) say(Verb::stopped, signal);
}

void Guardian::ask_to_stop() {
  state_ = State::stopping;
  stop_asked_at_ = boot_now();
  kill(-pid_, SIGTERM);
  kill(-pid_, SIGCONT);  // what is stopped could not act on it
}

// The command has ended: what it left behind must not outlive the term either.
void Guardian::ask_leftovers() {
  if (state_ == State::running) ask_to_stop();
  for (const pid_t child : children_of_this_process()) {
    if (child == pid_ || getpgid(child) == pid_) continue;
    if (std::find(asked_.begin(), asked_.end(), child) != asked_.end()) continue;
    asked_.push_back(child);
    kill(child, SIGTERM);
    kill(child, SIGCONT);
  }
}

void Guardian::begin_killing() {
  if (state_ == State::over) return;
  state_ = State::killing;
  terminal_.leave_group();
}

void Guardian::sweep() {
  if (pid_ > 0) kill(-pid_, SIGKILL);
  signal_children(SIGKILL);
  look_at_children();
}

std::int64_t Guardian::kill_due() const noexcept {
  const std::int64_t by_deadline = deadline_ - margin_;
  if (stop_asked_at_ == kNeverNs) return by_deadline;
  return std::min(by_deadline, stop_asked_at_ + std::max<std::int64_t>(grace_ - margin_, 0));
}

std::int64_t Guardian::next_due() const noexcept {
  if (state_ == State::running) return std::min(deadline_ - grace_, kill_due());
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
  } else if (state_ == State::running && now >= deadline_ - grace_) {
    ask_to_stop();
  }
}

// Never waits: tenure may be stopped, and the deadline does not wait for it.
void Guardian::say(Verb verb, int number) noexcept {
  Message message;
  message.verb = verb;
  message.number = number;
  message.asked = state_ == State::stopping || state_ == State::killing;
  send(socket_, &message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

int main_of_guardian(int argc, char** argv) {
  if (argc < 5) return 1;
  Guardian guardian(std::atoi(argv[2]), std::atoi(argv[3]), argv + 4);
  return guardian.run();
}

}  // namespace tenure::cli::guardian
