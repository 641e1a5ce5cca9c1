// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/environment.h"

#include <sys/vfs.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

#include "stores/sqlite/file_systems.h"

namespace tenure::sqlite {
namespace {

// No such file: empty. Any other trouble is an error, because the answer would be a wrong one.
Result<std::string> whole_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  if (!file) {
    if (errno == ENOENT) return std::string();
    return fail(Errc::unavailable, "cannot read " + path + ": " + std::strerror(errno));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

bool boot_clock_is_shifted(std::string_view timens_offsets) {
  std::istringstream lines{std::string(timens_offsets)};
  std::string clock;
  long long seconds = 0;
  long long nanoseconds = 0;
  while (lines >> clock >> seconds >> nanoseconds) {
    if (clock == "boottime") return seconds != 0 || nanoseconds != 0;
  }
  return false;
}

Result<Environment> read_environment() {
  const auto offsets = whole_file("/proc/self/timens_offsets");
  if (!offsets) return tl::unexpected<Error>(offsets.error());
  if (boot_clock_is_shifted(*offsets)) {
    return fail(Errc::unsupported,
                "this process runs in a time namespace with a boot clock of its own; the sqlite "
                "store needs the clock that all processes of the host share");
  }
  const auto boot_id = whole_file("/proc/sys/kernel/random/boot_id");
  if (!boot_id) return tl::unexpected<Error>(boot_id.error());
  Environment environment;
  environment.boot_id = boot_id->substr(0, boot_id->find('\n'));
  if (environment.boot_id.empty()) {
    return fail(Errc::unsupported, "there is no /proc/sys/kernel/random/boot_id");
  }
  environment.file_system_type = [](const std::string& path) -> Result<std::int64_t> {
    struct statfs info {};
    if (::statfs(path.c_str(), &info) != 0) {
      return fail(Errc::unavailable,
                  "cannot tell the file system of " + path + ": " + std::strerror(errno));
    }
    return static_cast<std::int64_t>(info.f_type);
  };
  return environment;
}

Result<void> check_file_system(std::int64_t type, const std::string& path) {
  const std::string_view name = shared_file_system(type);
  if (name.empty()) return {};
  return fail(Errc::unsupported, path + " is on a file system that machines may share (" +
                                     std::string(name) +
                                     "); the sqlite store needs a local one, such as ext4, xfs, "
                                     "btrfs or tmpfs");
}

}  // namespace tenure::sqlite
