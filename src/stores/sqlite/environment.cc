// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/environment.h"

#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tenure::sqlite {
namespace {

struct SharedFileSystem {
  std::uint32_t magic;
  const char* name;
};

// FUSE stands for many things. Most of those that are shared (sshfs, ceph-fuse, virtiofs) look just
// like those that are not, so all of them are refused.
constexpr std::array kSharedFileSystems = {
    SharedFileSystem{0x00006969, "NFS"},          SharedFileSystem{0x0000517B, "SMB"},
    SharedFileSystem{0xFF534D42, "CIFS"},         SharedFileSystem{0xFE534D42, "SMB2"},
    SharedFileSystem{0x65735546, "FUSE"},         SharedFileSystem{0x01021997, "9p"},
    SharedFileSystem{0x00C36400, "Ceph"},         SharedFileSystem{0x5346414F, "AFS"},
    SharedFileSystem{0x6B414653, "AFS"},          SharedFileSystem{0x7461636F, "OCFS2"},
    SharedFileSystem{0x01161970, "GFS2"},         SharedFileSystem{0x0BD00BD0, "Lustre"},
    SharedFileSystem{0x73757245, "Coda"},         SharedFileSystem{0x0000564C, "NCP"},
    SharedFileSystem{0x47504653, "GPFS"},         SharedFileSystem{0x19830326, "BeeGFS"},
    SharedFileSystem{0x20030528, "OrangeFS"},     SharedFileSystem{0x786F4256, "VirtualBox share"},
    SharedFileSystem{0x7C7C6673, "Parallels"},    SharedFileSystem{0xAAD7AAEA, "PanFS"},
    SharedFileSystem{0xBEEFDEAD, "StorNext"},     SharedFileSystem{0x61636673, "ACFS"},
    SharedFileSystem{0xBACBACBC, "VMware share"},
};

std::string first_word_of(const char* path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
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
  std::ostringstream offsets;
  if (std::ifstream file("/proc/self/timens_offsets"); file) offsets << file.rdbuf();
  if (boot_clock_is_shifted(offsets.str())) {
    return fail(Errc::unsupported,
                "this process runs in a time namespace with a boot clock of its own; the sqlite "
                "store needs the clock that all processes of the host share");
  }
  Environment environment;
  environment.boot_id = first_word_of("/proc/sys/kernel/random/boot_id");
  if (environment.boot_id.empty()) {
    return fail(Errc::unsupported, "cannot read /proc/sys/kernel/random/boot_id");
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
  const auto magic = static_cast<std::uint32_t>(type);
  for (const SharedFileSystem& shared : kSharedFileSystems) {
    if (shared.magic != magic) continue;
    return fail(Errc::unsupported, path + " is on a file system that machines may share (" +
                                       shared.name +
                                       "); the sqlite store needs a local one, such as ext4, xfs, "
                                       "btrfs or tmpfs");
  }
  return {};
}

}  // namespace tenure::sqlite
