// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/creation.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "stores/sqlite/errors.h"
#include "stores/sqlite/schema.h"
#include "stores/sqlite/vfs_file.h"

namespace tenure::sqlite {
namespace {

constexpr int kWaitMs = 5;
constexpr int kLongestWaitMs = 5000;

Result<void> sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected<Error>(make_system_error(errno, "open the folder", folder));
  const int result = ::fsync(fd);
  const int number = errno;
  ::close(fd);
  // Some file systems cannot sync a folder; they order its changes themselves.
  if (result == 0 || number == EINVAL) return {};
  return tl::unexpected<Error>(make_system_error(number, "sync the folder", folder));
}

Result<void> make(const Location& location, Content found, const std::string& vfs) {
  auto image = new_database_image();
  if (!image) return tl::unexpected<Error>(std::move(image.error()));
  const bool is_new = found == Content::missing;
  auto file =
      VfsFile::open(location.path, vfs, is_new ? VfsFile::Access::create : VfsFile::Access::write);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  // Not even by another program that makes a database of its own of this very file.
  if (!(*file)->try_lock()) {
    return fail(Errc::unavailable, location.path + " is in use by another program");
  }
  auto size = (*file)->size();
  if (!size) return tl::unexpected<Error>(std::move(size.error()));
  if (found == Content::empty && *size != 0) {
    return fail(Errc::unavailable, location.path + " was filled by another program just now");
  }
  // As long as the beginning is missing the file is not a database.
  auto done = (*file)->write(image->data() + kMagicSize, image->size() - kMagicSize, kMagicSize);
  if (done) done = (*file)->sync();
  if (done) done = sync_folder(location.folder);
  if (!done) {
    // maybe: this fails as well; then the next who comes completes what is there.
    static_cast<void>((*file)->cut_to_nothing());
    if (is_new) ::unlink(location.path.c_str());
    return done;
  }
  done = (*file)->write(image->data(), kMagicSize, 0);
  if (done) done = (*file)->sync();
  return done;
}

}  // namespace

Result<void> create_database(const Location& location, const SessionLock& lock,
                             const std::string& vfs) {
  for (int waited = 0; !lock.try_lock_creation(); waited += kWaitMs) {
    if (waited >= kLongestWaitMs) {
      return fail(Errc::unavailable, "another process has been making " + location.path +
                                         " for seconds; perhaps it is stopped");
    }
    sqlite3_sleep(kWaitMs);
  }
  Result<void> done;
  auto found = look_at(location, vfs);
  if (!found) {
    done = tl::unexpected<Error>(std::move(found.error()));
  } else if (*found != Content::tenure) {
    done = make(location, *found, vfs);
  }
  lock.unlock_creation();
  return done;
}

}  // namespace tenure::sqlite
