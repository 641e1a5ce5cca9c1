// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/session_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "stores/sqlite/errors.h"

namespace tenure::sqlite {
namespace {

// Sessions lock one byte in [1, 2^62); byte 0 is the bell, byte 2^62 the right to make a database.
// What is written into the file has nothing to do with which of its bytes are locked.
constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << 62) - 1;
constexpr off_t kCreationByte = off_t{1} << 62;
constexpr int kAttempts = 16;

struct flock one_byte(short type, off_t offset) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  return lock;
}

bool try_lock(int fd, off_t offset) noexcept {
  struct flock lock = one_byte(F_WRLCK, offset);
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

LockPlace file_of(int fd) noexcept {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return {};
  return {static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino), 0};
}

// Descriptors that outlive their store, see keep(). At most as many as there were stores open at
// one time, because a new store takes over what an old one left.
class KeptDescriptors {
 public:
  void add(int fd, const LockPlace& place) {
    const std::lock_guard guard(mutex_);
    kept_.emplace_back(fd, place);
  }

  std::optional<std::pair<int, LockPlace>> take(const LockPlace& file) {
    const std::lock_guard guard(mutex_);
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      if (it->second.device != file.device || it->second.inode != file.inode) continue;
      const auto found = *it;
      kept_.erase(it);
      return found;
    }
    return std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<int, LockPlace>> kept_;
};

KeptDescriptors& kept_descriptors() {
  // Never destroyed: a store may be closed by a static destructor.
  static auto* const kept = new KeptDescriptors;
  return *kept;
}

}  // namespace

Result<std::unique_ptr<SessionLock>> SessionLock::open_or_create(const std::string& path,
                                                                 const std::string& database) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  struct stat model {};
  const bool has_model = ::stat(database.c_str(), &model) == 0;
  const mode_t mode = has_model ? (model.st_mode & 0777) : 0666;
  int fd = -1;
  bool is_new = false;
  // More than once: what is there at the one look may be gone at the next, see remove_if_new().
  for (int attempt = 0; attempt < kAttempts && fd < 0; ++attempt) {
    fd = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, mode);
    is_new = fd >= 0;
    if (fd < 0 && errno == EEXIST) fd = ::open(path.c_str(), kFlags);
    if (fd < 0 && errno != ENOENT) break;
  }
  if (is_new) {
    // maybe: not permitted; then those that may use the database but not this file are told so.
    if (has_model && ::fchown(fd, model.st_uid, model.st_gid) != 0) errno = 0;
    if (has_model && ::fchmod(fd, mode) != 0) errno = 0;
  }
  if (fd < 0) return tl::unexpected<Error>(make_system_error(errno, "open", path));
  std::unique_ptr<SessionLock> lock(new SessionLock(path, fd));
  lock->is_new_ = is_new;
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    return fail(Errc::invalid_argument, path + " is not a plain file");
  }
  return lock;
}

Result<std::unique_ptr<SessionLock>> SessionLock::take(
    const std::string& path, const std::string& database,
    const std::function<std::uint64_t()>& random) {
  for (int attempt = 1;; ++attempt) {
    auto lock = open_or_create(path, database);
    if (!lock) return lock;
    if (auto left = kept_descriptors().take(file_of((*lock)->fd_))) {
      ::close(std::exchange((*lock)->fd_, left->first));
      (*lock)->place_ = left->second;
      (*lock)->keep_ = true;
      return lock;
    }
    if (auto locked = (*lock)->lock_some_byte(random); !locked) {
      (*lock)->remove_if_new();
      return tl::unexpected(locked.error());
    }
    if (!(*lock)->is_replaced() || attempt == kAttempts) return lock;
  }
}

Result<void> SessionLock::lock_some_byte(const std::function<std::uint64_t()>& random) {
  place_ = file_of(fd_);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto offset = static_cast<off_t>(random() & kOffsetMask);
    if (offset == 0) continue;
    if (try_lock(fd_, offset)) {
      place_.offset = offset;
      return {};
    }
    if (errno != EAGAIN && errno != EACCES) break;
  }
  return tl::unexpected<Error>(make_system_error(errno, "lock a byte of", path_));
}

std::unique_ptr<SessionLock> SessionLock::look(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  std::unique_ptr<SessionLock> lock(new SessionLock(path, fd));
  if (fd >= 0) lock->place_ = file_of(fd);
  return lock;
}

SessionLock::~SessionLock() {
  if (fd_ < 0) return;
  if (keep_ && is_session()) {
    kept_descriptors().add(fd_, place_);
  } else {
    ::close(fd_);
  }
}

Pulse SessionLock::pulse(const LockPlace& place) const noexcept {
  if (fd_ < 0 || place.offset == 0) return Pulse::unknown;
  if (place.device != place_.device || place.inode != place_.inode) return Pulse::unknown;
  if (place == place_) return Pulse::alive;
  struct flock lock = one_byte(F_WRLCK, place.offset);
  if (::fcntl(fd_, F_OFD_GETLK, &lock) != 0) return Pulse::unknown;
  return lock.l_type == F_UNLCK ? Pulse::dead : Pulse::alive;
}

bool SessionLock::is_replaced() const noexcept {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) return fd_ >= 0;
  return static_cast<std::int64_t>(info.st_dev) != place_.device ||
         static_cast<std::int64_t>(info.st_ino) != place_.inode;
}

void SessionLock::remove_if_new() const noexcept {
  if (!is_new_ || is_replaced()) return;
  struct flock others = one_byte(F_WRLCK, 1);
  others.l_len = 0;  // to the end of all offsets
  if (::fcntl(fd_, F_OFD_GETLK, &others) != 0 || others.l_type != F_UNLCK) return;
  // maybe: not permitted by now; then an empty file is left, which harms nobody.
  if (::unlink(path_.c_str()) != 0) errno = 0;
}

void SessionLock::ring() const noexcept {
  const char bell = 0;
  // maybe: the disk is full; then watchers hear of it at their next slow look.
  if (is_session() && ::pwrite(fd_, &bell, 1, 0) != 1) errno = 0;
}

bool SessionLock::try_lock_creation() const noexcept { return try_lock(fd_, kCreationByte); }

void SessionLock::unlock_creation() const noexcept {
  struct flock lock = one_byte(F_UNLCK, kCreationByte);
  ::fcntl(fd_, F_OFD_SETLK, &lock);
}

}  // namespace tenure::sqlite
