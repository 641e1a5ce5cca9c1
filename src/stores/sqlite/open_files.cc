// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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
  return {std::move(path), info.st_dev, info.st_ino, info.st_size, false, info.st_mtim};
}

bool OpenFiles::are_untouched() const noexcept {
  return std::all_of(files_.begin(), files_.end(), [](const File& file) {
    const File now = look(file.path);
    return now.device == file.device && now.inode == file.inode && now.size == file.size &&
           now.changed.tv_sec == file.changed.tv_sec && now.changed.tv_nsec == file.changed.tv_nsec;
  });
}

bool OpenFiles::are_in_place(std::size_t how_many) noexcept {
  auto* const end = files_.data() + how_many;
  const bool in_place = std::all_of(files_.data(), end, [](File& file) {
    struct stat info {};
    if (::stat(file.path.c_str(), &info) != 0) info = {};
    if (info.st_dev != file.device || info.st_ino != file.inode) return false;
    file.is_cut = info.st_size < file.size;
    file.size = std::max(file.size, info.st_size);
    return true;
  });
  const File& index = files_.back();
  if (!in_place || !index.is_cut) return in_place;
  // To nothing first: a beginning that is left would vouch for the zeros behind it.
  // maybe: not permitted, for one who only looks; then nothing can be done.
  if (::truncate(index.path.c_str(), 0) != 0) return true;
  return ::truncate(index.path.c_str(), index.size) == 0;
}

}  // namespace tenure::sqlite
