// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/vfs_file.h"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "stores/sqlite/errors.h"

namespace tenure::sqlite {
namespace {

int flags_of(VfsFile::Access access) noexcept {
  switch (access) {
    case VfsFile::Access::read:
      return SQLITE_OPEN_READONLY;
    case VfsFile::Access::write:
      return SQLITE_OPEN_READWRITE;
    case VfsFile::Access::create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE;
  }
  return 0;
}

}  // namespace

VfsFile::VfsFile(std::string path, std::size_t size)
    : path_(std::move(path)),
      name_(sqlite3_create_filename(path_.c_str(), "", "", 0, nullptr)),
      memory_(std::make_unique<std::max_align_t[]>(size / sizeof(std::max_align_t) + 1)) {}

VfsFile::~VfsFile() {
  if (handle()->pMethods != nullptr) handle()->pMethods->xClose(handle());
  sqlite3_free_filename(const_cast<char*>(name_));
}

sqlite3_file* VfsFile::handle() const noexcept {
  return reinterpret_cast<sqlite3_file*>(memory_.get());
}

Result<void> VfsFile::check(int result, const char* doing) const {
  if (result == SQLITE_OK) return {};
  if (errno != 0) return tl::unexpected<Error>(make_system_error(errno, doing, path_));
  return tl::unexpected<Error>(make_error(nullptr, result, Phase::opening, doing, path_));
}

Result<std::unique_ptr<VfsFile>> VfsFile::open(const std::string& path, const std::string& vfs_name,
                                               Access access) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(vfs_name.empty() ? nullptr : vfs_name.c_str());
  if (vfs == nullptr) {
    return fail(Errc::invalid_argument, "there is no SQLite VFS named \"" + vfs_name + "\"");
  }
  std::unique_ptr<VfsFile> file(new VfsFile(path, static_cast<std::size_t>(vfs->szOsFile)));
  errno = 0;
  int granted = 0;
  const int result = vfs->xOpen(vfs, file->name_, file->handle(),
                                flags_of(access) | SQLITE_OPEN_MAIN_DB, &granted);
  if (auto opened = file->check(result, "open"); !opened) return tl::unexpected(opened.error());
  if (access != Access::read && (granted & SQLITE_OPEN_READONLY) != 0) {
    return fail(Errc::permission_denied, "cannot write " + path);
  }
  return file;
}

Result<std::int64_t> VfsFile::size() const {
  sqlite3_int64 size = 0;
  errno = 0;
  const int result = handle()->pMethods->xFileSize(handle(), &size);
  if (auto done = check(result, "read"); !done) return tl::unexpected(done.error());
  return static_cast<std::int64_t>(size);
}

Result<void> VfsFile::read(unsigned char* to, std::size_t size, std::int64_t from) const {
  errno = 0;
  const int result = handle()->pMethods->xRead(handle(), to, static_cast<int>(size), from);
  return result == SQLITE_IOERR_SHORT_READ ? Result<void>{} : check(result, "read");
}

Result<void> VfsFile::write(const unsigned char* from, std::size_t size, std::int64_t to) {
  errno = 0;
  return check(handle()->pMethods->xWrite(handle(), from, static_cast<int>(size), to), "write");
}

Result<void> VfsFile::sync() {
  errno = 0;
  return check(handle()->pMethods->xSync(handle(), SQLITE_SYNC_NORMAL), "write");
}

Result<void> VfsFile::cut_to_nothing() {
  errno = 0;
  return check(handle()->pMethods->xTruncate(handle(), 0), "write");
}

bool VfsFile::try_lock() noexcept {
  return handle()->pMethods->xLock(handle(), SQLITE_LOCK_SHARED) == SQLITE_OK &&
         handle()->pMethods->xLock(handle(), SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK;
}

}  // namespace tenure::sqlite
