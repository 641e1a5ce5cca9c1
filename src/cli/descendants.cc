// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/descendants.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const noexcept { closedir(dir); }
};

bool read_file(const std::string& path, std::string& text) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  text.clear();
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(fd, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(fd);
  return got == 0;
}

void append_numbers(std::string_view text, std::vector<pid_t>& out) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    pid_t pid = 0;
    const auto [next, error] = std::from_chars(at, end, pid);
    if (error == std::errc{}) out.push_back(pid);
    at = next + 1;
  }
}

template <class F>
void for_each_number_in(const char* folder, F&& use) {
  const std::unique_ptr<DIR, CloseDir> dir(opendir(folder));
  if (!dir) return;
  while (const dirent* entry = readdir(dir.get())) {
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') use(entry->d_name);
  }
}

// The parent is the second field after the name, which may itself hold blanks and brackets.
pid_t parent_in_stat(std::string_view stat) {
  const auto bracket = stat.rfind(')');
  if (bracket == std::string_view::npos || bracket + 4 >= stat.size()) return 0;
  const std::string_view rest = stat.substr(bracket + 4);
  pid_t parent = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), parent);
  return parent;
}

std::vector<pid_t> children_by_scanning() {
  std::vector<pid_t> found;
  const pid_t self = getpid();
  std::string stat;
  for_each_number_in("/proc", [&](const char* pid) {
    if (!read_file(std::string("/proc/") + pid + "/stat", stat)) return;
    if (parent_in_stat(stat) == self) found.push_back(std::atoi(pid));
  });
  return found;
}

}  // namespace

bool become_subreaper() noexcept { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0; }

bool has_children() noexcept {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> found;
  bool readable = false;
  std::string text;
  for_each_number_in("/proc/self/task", [&](const char* thread) {
    if (!read_file(std::string("/proc/self/task/") + thread + "/children", text)) return;
    readable = true;
    append_numbers(text, found);
  });
  // A kernel without CONFIG_PROC_CHILDREN.
  return readable ? found : children_by_scanning();
}

std::size_t signal_children(int signal, const std::vector<pid_t>& spared) {
  std::size_t sent = 0;
  for (const pid_t child : children_of_this_process()) {
    if (std::find(spared.begin(), spared.end(), child) != spared.end()) continue;
    // Safe against reuse of the number: a child stays a zombie until this process reaps it.
    if (kill(child, signal) == 0) ++sent;
  }
  return sent;
}

}  // namespace tenure::cli
