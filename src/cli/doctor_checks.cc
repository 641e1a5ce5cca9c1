// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_checks.h"

#include <tenure/clock.h>

#include "cli/descendants.h"
#include "cli/duration.h"
#include "cli/pace.h"
#include "stores/sqlite/file_systems.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

std::string read_text(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::array<char, 1024> buffer{};
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  close(fd);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

std::string failure() { return std::strerror(errno); }

// "monotonic 0 0\nboottime 0 0": anything but zeros is a clock that others do not share.
bool boot_clock_shifted() {
  const std::string offsets = read_text("/proc/self/timens_offsets");
  const auto line = offsets.find("boottime");
  if (line == std::string::npos) return false;
  const std::string numbers = offsets.substr(line + 8, offsets.find('\n', line) - line - 8);
  return numbers.find_first_of("123456789") != std::string::npos;
}

Finding check_boot_clock() {
  timespec now{};
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
    return {"boot clock", Verdict::bad, "CLOCK_BOOTTIME cannot be read: " + failure(),
            "use a kernel that has it (2.6.39 or newer)"};
  }
  if (read_text("/proc/sys/kernel/random/boot_id").empty()) {
    return {"boot clock", Verdict::bad, "/proc/sys/kernel/random/boot_id cannot be read",
            "mount /proc: the embedded store needs the boot id"};
  }
  if (boot_clock_shifted()) {
    return {"boot clock", Verdict::bad, "this process has a boot clock of its own (time namespace)",
            "run all candidates of an embedded store outside of time namespaces"};
  }
  return {"boot clock", Verdict::fine,
          "up for " + format_duration(std::chrono::seconds(now.tv_sec)), ""};
}

// Nothing is decided by wall time; but people read it in logs and in `watch`.
Finding check_wall_clock() {
  constexpr std::time_t kYear2024 = 1'704'067'200;
  if (std::time(nullptr) < kYear2024) {
    return {"wall clock", Verdict::warning, "it shows a time before 2024",
            "set the clock; elections do not depend on it, times in logs do"};
  }
  return {"wall clock", Verdict::fine, "plausible", ""};
}

Finding check_inotify() {
  const int fd = inotify_init1(IN_CLOEXEC);
  if (fd >= 0) {
    close(fd);
    return {"inotify", Verdict::fine, "available", ""};
  }
  return {"inotify", Verdict::warning, "no instance to be had: " + failure(),
          "raise fs.inotify.max_user_instances (sysctl), or changes are noticed only by a slow "
          "re-read"};
}

Finding check_descriptors() {
  constexpr rlim_t kComfortable = 256;
  constexpr rlim_t kLeast = 32;  // What a candidate and its guardian open, and some to spare.
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const std::string found =
      limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " allowed";
  if (limit.rlim_cur >= kComfortable) return {"file descriptors", Verdict::fine, found, ""};
  return {"file descriptors", limit.rlim_cur < kLeast ? Verdict::bad : Verdict::warning, found,
          "raise the limit (ulimit -n) to 256 or more"};
}

Finding check_proc() {
  if (access("/proc/self/task", R_OK) == 0) return {"/proc", Verdict::fine, "mounted", ""};
  return {"/proc", Verdict::bad, "not there",
          "mount /proc: without it, processes that a command leaves behind are not found"};
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

struct Kind {
  unsigned long magic;
  const char* name;
  Verdict verdict;
};

constexpr std::array kKinds{
    Kind{0x01021994UL, "tmpfs", Verdict::warning}, Kind{0x858458F6UL, "ramfs", Verdict::warning},
    Kind{0xEF53UL, "ext", Verdict::fine},          Kind{0x58465342UL, "XFS", Verdict::fine},
    Kind{0x9123683EUL, "Btrfs", Verdict::fine},    Kind{0x794C7630UL, "overlay", Verdict::fine},
    Kind{0x2FC12FC1UL, "ZFS", Verdict::fine},
};

// The kernel's views of itself: nobody can create a file there.
constexpr std::array<unsigned long, 10> kNoFiles{
    0x9FA0UL,      // proc
    0x62656572UL,  // sysfs
    0x27E0EBUL,    // cgroup
    0x63677270UL,  // cgroup2
    0x1CD1UL,      // devpts
    0x64626720UL,  // debugfs
    0x74726163UL,  // tracefs
    0x73636673UL,  // securityfs
    0x62656570UL,  // configfs
    0xCAFE4A11UL,  // bpf
};

Finding check_file_system(const struct statfs& info) {
  const auto magic = static_cast<unsigned long>(info.f_type) & 0xFFFFFFFFUL;
  if (std::find(kNoFiles.begin(), kNoFiles.end(), magic) != kNoFiles.end()) {
    return {"file system", Verdict::bad, "one that keeps no files",
            "name another store: no database can be created there"};
  }
  if (const auto shared = sqlite::shared_file_system(info.f_type); !shared.empty()) {
    return {"file system", Verdict::bad, std::string(shared) + ", which machines may share",
            "put the database on a local disk: candidates of an embedded store are on one host"};
  }
  for (const Kind& kind : kKinds) {
    if (kind.magic != magic) continue;
    if (kind.verdict == Verdict::fine) return {"file system", Verdict::fine, kind.name, ""};
    return {"file system", Verdict::warning, kind.name,
            "tokens start again after a reboot; put the database on a disk if they must not"};
  }
  return {"file system", Verdict::fine, "of an unlisted kind", ""};
}

Finding check_room(const struct statfs& info) {
  constexpr unsigned long long kLeast = 16ULL << 20U;
  const unsigned long long room = static_cast<unsigned long long>(info.f_bavail) *
                                  static_cast<unsigned long long>(info.f_bsize);
  const std::string found = std::to_string(room >> 20U) + " MiB free";
  if (room >= kLeast) return {"room", Verdict::fine, found, ""};
  return {"room", Verdict::warning, found, "free some: on a full disk nobody can be elected"};
}

// As the store judges it when a candidate opens it.
Finding check_rights(const std::string& folder, const std::string& path) {
  const std::string advice = "give this user write permission, or name another store";
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return {"folder", Verdict::bad, folder + " cannot be written: " + failure(), advice};
  }
  for (const char* const suffix : {"", "-lock", "-wal", "-shm"}) {
    const std::string file = path + suffix;
    struct stat info {};
    if (stat(file.c_str(), &info) != 0 && errno == ENOENT) continue;
    if (faccessat(AT_FDCWD, file.c_str(), R_OK | W_OK, AT_EACCESS) != 0) {
      return {"folder", Verdict::bad, file + " cannot be written: " + failure(), advice};
    }
    if (!S_ISREG(info.st_mode)) {
      return {"folder", Verdict::bad, file + " is not a plain file",
              "move it away, or name another store"};
    }
  }
  return {"folder", Verdict::fine, folder + " can be written", ""};
}

// A folder that the first candidate creates, if it may.
Finding check_future(const std::string& folder) {
  const std::string missing = folder + " is not there yet; ";
  std::string above = folder;
  while (access(above.c_str(), F_OK) != 0 && above != folder_of(above)) above = folder_of(above);
  if (faccessat(AT_FDCWD, above.c_str(), W_OK | X_OK, AT_EACCESS) == 0) {
    return {"folder", Verdict::fine, missing + "the first candidate creates it", ""};
  }
  return {"folder", Verdict::bad, missing + above + " cannot be written: " + failure(),
          "name another store, or set XDG_STATE_HOME to a folder of this user"};
}

// A file without a name, which no other process ever sees.
Finding check_sync(const std::string& folder, const Timing& timing) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) {
    return {"time of a sync", Verdict::fine, "cannot be measured here: " + failure(), ""};
  }
  const std::array<char, 4096> page{};
  Clock& clock = system_clock();
  Duration longest{};
  bool failed = false;
  for (int i = 0; i < 5 && !failed; ++i) {
    const Instant before = clock.now();
    failed = write(fd, page.data(), page.size()) != ssize_t{page.size()} || fdatasync(fd) != 0;
    longest = std::max(longest, saturating_between(before, clock.now()));
  }
  const std::string why = failed ? failure() : "";
  close(fd);
  if (failed) {
    return {"time of a sync", Verdict::bad, "writing fails: " + why, "free or repair the disk"};
  }
  const std::string found = "at most " + format_duration(longest) + " in five tries";
  if (longest < timing.request_limit / 2) return {"time of a sync", Verdict::fine, found, ""};
  return {"time of a sync", Verdict::warning, found,
          "use a longer --ttl: a request may take " + format_duration(timing.request_limit)};
}

}  // namespace

std::vector<Finding> check_machine() {
  return {check_boot_clock(), check_wall_clock(), check_inotify(), check_descriptors(),
          check_proc()};
}

Finding check_timing(const Settings& settings) {
  const Timing& timing = settings.timing;
  // As `run` renews: the kill margin is taken from it.
  const ElectionOptions told = with_kill_margin(settings.election, timing);
  const std::string found = "ttl " + format_duration(timing.ttl) + ", grace " +
                            format_duration(timing.grace) + ", renewed every " +
                            format_duration(told.renew_interval.value_or(timing.renew_interval));
  if (timing.ttl >= std::chrono::seconds(2)) return {"timing", Verdict::fine, found, ""};
  return {
      "timing", Verdict::warning, found,
      "a pause of this machine that is longer than the ttl costs the term; 5s or more is usual"};
}

std::vector<Finding> check_folder_of(const std::string& path, bool is_default,
                                     const Timing& timing) {
  const std::string folder = folder_of(path);
  struct statfs info {};
  if (statfs(folder.c_str(), &info) != 0) {
    if (is_default && errno == ENOENT) return {check_future(folder)};
    return {
        {"folder", Verdict::bad, folder + ": " + failure(), "create it, or name another store"}};
  }
  return {check_file_system(info), check_room(info), check_rights(folder, path),
          check_sync(folder, timing)};
}

}  // namespace tenure::cli
