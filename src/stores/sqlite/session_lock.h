// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stores/sqlite/token_mark.h"

namespace tenure::sqlite {

/// Where a session's kernel lock is: one byte of one file. The file is told by its inode: as long
/// as a holder has it open the number cannot be given to another file, so that a lock file which
/// was deleted and made anew is never taken for the one that a live holder has locked.
struct LockPlace {
  std::int64_t device = 0;
  std::int64_t inode = 0;
  std::int64_t offset = 0;

  auto operator<=>(const LockPlace&) const = default;
};

/// What the kernel says of the holder behind a place.
enum class Pulse {
  alive,    ///< It, or a child that inherited the descriptor, has the byte locked.
  dead,     ///< Nobody has.
  unknown,  ///< The place is in another file: only the ttl can judge.
};

/// The lock file beside a database: liveness of sessions, a bell, and the mark of tokens.
///
/// The lock belongs to the open file description, not to the process: it does not mind other
/// descriptors of the file being closed, is inherited by children that are given the descriptor,
/// and ends when the last of them is gone.
///
/// Thread-safety: one thread at a time.
class SessionLock {
 public:
  /// Creates the file if need be, with the database's mode, and locks a byte at an offset that
  /// `random` chooses.
  [[nodiscard]] static Result<std::unique_ptr<SessionLock>> take(
      const std::string& path, const std::string& database,
      const std::function<std::uint64_t()>& random);

  /// Only for pulse(). Without a file, every pulse is unknown.
  [[nodiscard]] static std::unique_ptr<SessionLock> look(const std::string& path);

  /// Frees the byte, unless keep() was called.
  ~SessionLock();
  SessionLock(const SessionLock&) = delete;
  SessionLock& operator=(const SessionLock&) = delete;

  /// From now on the descriptor outlives this object: until the process ends, or the next take() on
  /// the same file takes it over. A record that was not released must be judged by its ttl; were
  /// the byte freed, it would be judged dead at once, while its holder may still be at work.
  void keep() noexcept { keep_ = true; }

  [[nodiscard]] bool is_session() const noexcept { return place_.offset != 0; }
  [[nodiscard]] int fd() const noexcept { return is_session() ? fd_ : -1; }
  [[nodiscard]] const LockPlace& place() const noexcept { return place_; }

  [[nodiscard]] Pulse pulse(const LockPlace& place) const noexcept;

  /// The path names another file, or none, by now.
  [[nodiscard]] bool is_replaced() const noexcept;

  /// Undoes a take() that has created the file, for a store that is refused after all. Not if
  /// anybody else has locked a byte of it by now. Whoever does so in this very moment finds that
  /// it is_replaced(), and is judged by its ttl alone until it has taken the next one.
  void remove_if_new() const noexcept;

  /// Lets every watcher of the file know that something has changed.
  void ring() const noexcept;

  [[nodiscard]] TokenMark mark() const noexcept { return read_mark(fd_); }
  [[nodiscard]] Result<void> set_mark(const TokenMark& mark, bool durable) const {
    return write_mark(fd_, mark, durable, path_);
  }

  /// Right of way to make the database. False: somebody else has it.
  [[nodiscard]] bool try_lock_creation() const noexcept;
  void unlock_creation() const noexcept;

 private:
  SessionLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  [[nodiscard]] static Result<std::unique_ptr<SessionLock>> open_or_create(
      const std::string& path, const std::string& database);
  [[nodiscard]] Result<void> lock_some_byte(const std::function<std::uint64_t()>& random);

  std::string path_;
  int fd_ = -1;
  LockPlace place_;
  bool keep_ = false;
  bool is_new_ = false;
};

}  // namespace tenure::sqlite
