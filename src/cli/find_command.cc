// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/find_command.h"

#include "cli/console.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tenure::cli {
namespace {

int can_run(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EACCES;
  return faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

// What the kernel reads from a script's first line; nothing for any other file, or one that may be
// run but not read.
std::string interpreter_of(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return {};
  std::array<char, 256> head{};
  const ssize_t got = read(fd, head.data(), head.size());
  close(fd);
  if (got < 2) return {};
  std::string_view line(head.data(), static_cast<std::size_t>(got));
  if (!line.starts_with("#!")) return {};
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(" \t", 2), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

FoundCommand look_at(std::string path) {
  FoundCommand found{std::move(path), 0, {}};
  found.error = can_run(found.path);
  if (found.error != 0) return found;
  std::string interpreter = interpreter_of(found.path);
  if (interpreter.empty()) return found;
  found.error = can_run(interpreter);
  if (found.error != 0) found.interpreter = std::move(interpreter);
  return found;
}

}  // namespace

bool FoundCommand::is_missing() const noexcept {
  return interpreter.empty() && (error == ENOENT || error == ENOTDIR);
}

FoundCommand find_command(const std::string& name) {
  FoundCommand refused{{}, ENOENT, {}};
  if (name.empty()) return refused;
  if (name.find('/') != std::string::npos) return look_at(name);
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable != nullptr ? variable : "/bin:/usr/bin";
  for (bool more = true; more;) {
    const auto colon = rest.find(':');
    const std::string folder(rest.substr(0, colon));
    more = colon != std::string_view::npos;
    if (more) rest.remove_prefix(colon + 1);
    FoundCommand found = look_at(folder.empty() ? name : folder + '/' + name);
    if (found.error == 0 || !found.interpreter.empty()) return found;
    if (found.error == EACCES) refused = std::move(found);
  }
  return refused;
}

std::string describe_failure(const std::string& name, const FoundCommand& found, int error) {
  const std::string what = "cannot run " + quoted(name) + ": ";
  if (!found.interpreter.empty()) {
    return what + "its interpreter " + quoted(found.interpreter) + ": " +
           std::strerror(found.error);
  }
  if (found.error != 0) return what + std::strerror(found.error);
  if (error == ENOEXEC) {
    return what + "neither a program of this machine nor a script that begins with #!";
  }
  return what + std::strerror(error);
}

}  // namespace tenure::cli
