// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "stores/sqlite/errors.h"

namespace tenure::sqlite {

Result<void> check_only_name(const std::string& path) {
  struct statx info {};
  if (::statx(AT_FDCWD, path.c_str(), AT_STATX_SYNC_AS_STAT, STATX_NLINK, &info) != 0) {
    if (errno == ENOENT) return {};
    return tl::unexpected<Error>(make_system_error(errno, "open", path));
  }
  if (info.stx_nlink > 1) {
    return fail(Errc::invalid_argument,
                path + " has " + std::to_string(info.stx_nlink) +
                    " names (hard links), and whoever uses another one would not be seen here; "
                    "leave it one name");
  }
  if ((info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0) {
    return fail(Errc::invalid_argument,
                path +
                    " is a file that was mounted by itself, without the files beside it; mount "
                    "its folder instead");
  }
  return {};
}

OpenFiles::OpenFiles(const std::string& path)
    : files_{look(path), look(path + "-wal"), look(path + "-shm")} {}

OpenFiles::File OpenFiles::look(std::string path) noexcept {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) info = {};
  return {std::move(path), info.st_dev, info.st_ino};
}

bool OpenFiles::have_moved() const noexcept {
  return std::any_of(files_.begin(), files_.end(), [](const File& file) {
    struct stat info {};
    if (::stat(file.path.c_str(), &info) != 0) info = {};
    return info.st_dev != file.device || info.st_ino != file.inode;
  });
}

}  // namespace tenure::sqlite
