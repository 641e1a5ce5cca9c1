// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/creation.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "stores/sqlite/errors.h"
#include "stores/sqlite/schema.h"

namespace tenure::sqlite {
namespace {

constexpr int kWaitMs = 5;
constexpr int kLongestWaitMs = 5000;

Result<void> system_failure(int number, const char* doing, const std::string& path) {
  return tl::unexpected<Error>(make_system_error(number, doing, path));
}

Result<void> write_all(int fd, const std::vector<unsigned char>& bytes, const std::string& path) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t more = ::write(fd, bytes.data() + written, bytes.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return system_failure(errno, "write", path);
    written += static_cast<std::size_t>(more);
  }
  if (::fsync(fd) != 0) return system_failure(errno, "write", path);
  return {};
}

Result<void> write_new_file(const std::string& path, const struct stat* model) {
  auto image = new_database_image();
  if (!image) return tl::unexpected<Error>(std::move(image.error()));
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return system_failure(errno, "create", path);
  auto written = write_all(fd, *image, path);
  if (written && model != nullptr &&
      (::fchown(fd, model->st_uid, model->st_gid) != 0 ||
       ::fchmod(fd, model->st_mode & 07777) != 0)) {
    written = system_failure(errno, "set owner and mode of", path);
  }
  ::close(fd);
  return written;
}

Result<void> sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return system_failure(errno, "open the folder", folder);
  const int result = ::fsync(fd);
  const int number = errno;
  ::close(fd);
  // Some file systems cannot sync a folder; they order its changes themselves.
  if (result != 0 && number != EINVAL) return system_failure(number, "sync the folder", folder);
  return {};
}

// Only if nothing is there; false: something is, by now.
Result<bool> move_into_the_gap(const std::string& from, const Location& location) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, location.path.c_str(), RENAME_NOREPLACE) == 0) {
    return true;
  }
  if (errno == EINVAL || errno == ENOSYS) {
    const int linked = ::link(from.c_str(), location.path.c_str());
    const int number = errno;
    ::unlink(from.c_str());
    if (linked == 0) return true;
    errno = number;
  }
  if (errno == EEXIST) return false;
  return tl::unexpected<Error>(make_system_error(errno, "create", location.path));
}

Result<void> fill_gap(const Location& location, const std::string& draft) {
  if (auto written = write_new_file(draft, nullptr); !written) return written;
  auto moved = move_into_the_gap(draft, location);
  if (!moved) return tl::unexpected<Error>(std::move(moved.error()));
  return *moved ? sync_folder(location.folder) : Result<void>{};
}

// An empty file cannot be replaced atomically on condition that it is still empty, so all who want
// to do that take turns; nobody uses an empty file as a database before one of them has.
Result<void> replace_empty(const Location& location, const std::string& draft,
                           const SessionLock& lock, const std::string& vfs) {
  for (int waited = 0; !lock.try_lock_creation(); waited += kWaitMs) {
    if (waited >= kLongestWaitMs) {
      return fail(Errc::unavailable, "another process has been making " + location.path +
                                         " for seconds; perhaps it is stopped");
    }
    sqlite3_sleep(kWaitMs);
  }
  Result<void> done;
  auto found = look_at(location, vfs);
  struct stat model {};
  if (!found) {
    done = tl::unexpected<Error>(std::move(found.error()));
  } else if (*found == Content::empty && ::stat(location.path.c_str(), &model) == 0) {
    done = write_new_file(draft, &model);
    if (done && ::rename(draft.c_str(), location.path.c_str()) != 0) {
      done = system_failure(errno, "create", location.path);
    }
    if (done) done = sync_folder(location.folder);
  }
  lock.unlock_creation();
  return done;
}

}  // namespace

Result<void> create_database(const Location& location, Content found, const SessionLock& lock,
                             const std::string& vfs, std::uint64_t random) {
  const std::string draft =
      location.path + "-new-" + std::to_string(::getpid()) + "-" + std::to_string(random);
  auto done = found == Content::empty ? replace_empty(location, draft, lock, vfs)
                                      : fill_gap(location, draft);
  ::unlink(draft.c_str());  // Gone already, unless something failed or somebody was faster.
  return done;
}

}  // namespace tenure::sqlite
