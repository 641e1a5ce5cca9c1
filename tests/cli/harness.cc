// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/harness.h"

#include <tenure/clock.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::test {
namespace {

int serial = 0;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void become(const SpawnOptions& options, int in, int out, int err,
                         char* const* arguments, char* const* environment) {
  // A test that is killed leaves nothing behind.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (options.session) {
    setsid();
    ioctl(in, TIOCSCTTY, 0);
  }
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  execve(arguments[0], arguments, environment);
  _exit(99);
}

std::string stat_field(pid_t pid, std::size_t field) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto bracket = stat.rfind(')');
  if (bracket == std::string::npos) return {};
  std::istringstream rest(stat.substr(bracket + 2));
  std::string word;
  for (std::size_t i = 0; i <= field; ++i) rest >> word;
  return word;
}

}  // namespace

std::string tenure_binary() { return TENURE_BINARY; }
std::string worker_binary() { return WORKER_BINARY; }

Process::Process(const TempDir& dir, std::vector<std::string> arguments,
                 const SpawnOptions& options) {
  const std::string number = std::to_string(++serial);
  out_path_ = dir / ("out" + number);
  err_path_ = dir / ("err" + number);
  const auto create = [](const std::string& path) {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  };
  const int in = options.in >= 0 ? options.in : open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out = options.out >= 0 ? options.out : create(out_path_);
  const int err = options.err >= 0 ? options.err : create(err_path_);

  std::map<std::string, std::string> variables{
      {"PATH", "/usr/bin:/bin"}, {"HOME", dir.path().string()}, {"LC_ALL", "C"}};
  for (const auto& [name, value] : options.env) variables[name] = value;
  std::vector<std::string> texts;
  for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
  const std::vector<char*> argv = pointers_to(arguments);
  const std::vector<char*> envp = pointers_to(texts);

  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pid_ = fork();
  if (pid_ == 0) {
    if (!options.blocked) sigprocmask(SIG_SETMASK, &before, nullptr);
    become(options, in, out, err, argv.data(), envp.data());
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) std::abort();
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  if (options.in < 0) close(in);
  if (options.out < 0) close(out);
  if (options.err < 0) close(err);
}

Process::~Process() {
  if (!code_) {
    kill(pid_, SIGKILL);  // its guardian sees that and kills the rest
    kill(pid_, SIGCONT);
    wait();
  }
  close(pidfd_);
}

void Process::send(int signal) const { kill(pid_, signal); }

std::optional<int> Process::wait(Duration limit) {
  if (code_) return code_;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  pollfd ready{pidfd_, POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(ms)) != 1) return std::nullopt;
  int status = 0;
  waitpid(pid_, &status, 0);
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  return code_;
}

bool Process::running() { return !wait(Duration::zero()); }

std::unique_ptr<Process> Bench::start(const std::string& command, const std::string& ttl,
                                      const std::vector<std::string>& program,
                                      const std::vector<std::string>& extra,
                                      const SpawnOptions& options) const {
  std::vector<std::string> arguments{tenure_binary(), command, "--name", "job",
                                     "--store",       store(), "--ttl",  ttl};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), program.begin(), program.end());
  return std::make_unique<Process>(dir, std::move(arguments), options);
}

std::vector<std::string> Bench::worker(const std::vector<std::string>& flags) const {
  std::vector<std::string> program{worker_binary(), marks_path()};
  program.insert(program.end(), flags.begin(), flags.end());
  return program;
}

std::vector<std::string> Bench::marks() const { return lines_of(read_file(marks_path())); }

std::size_t Bench::count(const std::string& word) const {
  const auto lines = marks();
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const auto& line) {
    return line == word || line.starts_with(word + " ");
  }));
}

bool Bench::wait_for(const std::string& word, std::size_t wanted) const {
  return eventually([&] { return count(word) >= wanted; });
}

std::string Bench::last(const std::string& word) const {
  std::string found;
  for (const std::string& line : marks()) {
    if (line.starts_with(word + " ")) found = line.substr(word.size() + 1);
  }
  return found;
}

bool Bench::worker_lives() const {
  const int fd = open((marks_path() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool locked = flock(fd, LOCK_EX | LOCK_NB) != 0;
  close(fd);
  return locked;
}

bool alive(pid_t pid) {
  const std::string state = stat_field(pid, 0);
  return !state.empty() && state != "Z" && state != "X";
}

std::vector<pid_t> children_named(pid_t pid, const std::string& name) {
  std::vector<pid_t> found;
  const std::string id = std::to_string(pid);
  std::istringstream children(read_file("/proc/" + id + "/task/" + id + "/children"));
  for (pid_t child = 0; children >> child;) {
    if (read_file("/proc/" + std::to_string(child) + "/comm") == name + "\n")
      found.push_back(child);
  }
  return found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace tenure::test
