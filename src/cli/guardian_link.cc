// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/guardian_link.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn with what it needs undone afterwards.
class Spawner {
 public:
  explicit Spawner(int kept_fd) {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
    // A group of its own: a signal to the whole job must not reach both of us.
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    // Onto itself: clears close-on-exec, and takes no number that the user's files may have.
    posix_spawn_file_actions_adddup2(&actions_, kept_fd, kept_fd);
  }
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;
  ~Spawner() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  int spawn(const char* program, pid_t& pid, char* const* arguments, char* const* environment) {
    return posix_spawn(&pid, program, &actions_, &attributes_, arguments, environment);
  }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Result<std::unique_ptr<GuardianLink>> GuardianLink::spawn(
    const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(Errc::unavailable,
                std::string("no socket for the guardian process: ") + std::strerror(errno));
  }
  std::vector<std::string> arguments{"tenure", std::string(guardian::kVerb),
                                     std::to_string(ends[1]), std::to_string(getpgrp())};
  arguments.insert(arguments.end(), command.begin(), command.end());
  std::vector<std::string> variables = environment;
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(variables);

  Spawner spawner(ends[1]);
  pid_t pid = -1;
  int error = spawner.spawn("/proc/self/exe", pid, argv.data(), envp.data());
  if (error == ENOENT) {  // no /proc here
    const unsigned long path = getauxval(AT_EXECFN);
    error = spawner.spawn(reinterpret_cast<const char*>(path), pid, argv.data(), envp.data());
  }
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return fail(Errc::unavailable,
                std::string("cannot start the guardian process: ") + std::strerror(error));
  }
  return std::unique_ptr<GuardianLink>(new GuardianLink(ends[0], pid));
}

GuardianLink::~GuardianLink() { close(fd_); }

bool GuardianLink::send(const guardian::Message& message, int passed) noexcept {
  guardian::Message copy = message;
  iovec data{&copy, sizeof copy};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (passed >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &passed, sizeof passed);
  }
  return sendmsg(fd_, &header, MSG_DONTWAIT | MSG_NOSIGNAL) == ssize_t{sizeof copy};
}

bool GuardianLink::send(guardian::Verb verb, int number) noexcept {
  guardian::Message message;
  message.verb = verb;
  message.number = number;
  return send(message);
}

std::optional<guardian::Message> GuardianLink::receive(bool& closed) noexcept {
  guardian::Message message;
  const ssize_t got = recv(fd_, &message, sizeof message, MSG_DONTWAIT);
  if (got == ssize_t{sizeof message}) return message;
  closed = !(got < 0 && (errno == EAGAIN || errno == EINTR));
  return std::nullopt;
}

void GuardianLink::kill() noexcept { ::kill(pid_, SIGKILL); }

}  // namespace tenure::cli
