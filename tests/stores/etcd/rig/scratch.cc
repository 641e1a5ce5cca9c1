// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/scratch.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

#include "tests/stores/etcd/rig/error.h"

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "tenure-etcd-";

fs::path base_with(std::uint64_t room) {
  const fs::path memory = "/dev/shm";
  struct statvfs state {};
  if (::statvfs(memory.c_str(), &state) == 0 && ::access(memory.c_str(), W_OK) == 0 &&
      static_cast<std::uint64_t>(state.f_bavail) * state.f_frsize >= room) {
    return memory;
  }
  return fs::temp_directory_path();
}

int open_folder(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// With the base folder locked nobody is between making a folder and locking it.
void sweep(const fs::path& base) {
  std::error_code error;
  fs::directory_iterator entry(base, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(kPrefix)) continue;
    const int fd = open_folder(entry->path());
    if (fd < 0) continue;
    std::error_code not_ours;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry->path(), not_ours);
    ::close(fd);
  }
}

}  // namespace

ScratchDir::ScratchDir(std::uint64_t room) : ScratchDir(base_with(room)) {}

ScratchDir::ScratchDir(const fs::path& base) {
  const int base_lock = open_folder(base);
  if (base_lock < 0 || ::flock(base_lock, LOCK_EX) != 0) {
    throw RigError("cannot lock " + base.string() + ": " + std::strerror(errno));
  }
  sweep(base);
  std::string pattern = (base / kPrefix).string() + "XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    ::close(base_lock);
    throw RigError("cannot make " + pattern + ": " + std::strerror(errno));
  }
  path_ = pattern;
  lock_ = open_folder(path_);
  ::flock(lock_, LOCK_EX);
  ::close(base_lock);
}

ScratchDir::~ScratchDir() {
  std::error_code error;
  fs::remove_all(path_, error);
  if (error) std::fprintf(stderr, "left behind: %s: %s\n", path_.c_str(), error.message().c_str());
  ::close(lock_);
}

std::string ScratchDir::operator/(std::string_view name) const { return (path_ / name).string(); }

}  // namespace tenure::test
