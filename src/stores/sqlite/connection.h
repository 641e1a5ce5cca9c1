// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/time.h>

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stores/sqlite/errors.h"

namespace tenure::sqlite {

class Connection;

/// A prepared statement, kept for the connection's life. Reset by rewind(), or by stepping past its
/// end; one that stands on a row keeps a read transaction open.
class Statement {
 public:
  Statement() = default;
  Statement(Connection& connection, sqlite3_stmt* handle) noexcept;

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view value);

  /// True: a row; false: the end, and the statement is reset.
  [[nodiscard]] Result<bool> step();
  void rewind() noexcept;

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] bool is_null(int column) const;

 private:
  struct Finalizer {
    void operator()(sqlite3_stmt* handle) const noexcept { sqlite3_finalize(handle); }
  };
  Connection* connection_ = nullptr;
  std::unique_ptr<sqlite3_stmt, Finalizer> handle_;
};

/// When a commit has reached the disk.
enum class Durability {
  at_commit,      ///< Before commit() returns. For what must survive a power cut.
  at_checkpoint,  ///< Some time later: fast; the last of them may be lost, never torn.
};

/// One SQLite connection to a tenure database. Used by one thread at a time.
class Connection {
 public:
  /// Opens an existing file. Nothing is created but SQLite's own -wal and -shm.
  [[nodiscard]] static Result<std::unique_ptr<Connection>> open(const std::string& path,
                                                                const std::string& vfs);
  /// To read a file that nobody writes, without a lock and with nothing beside it.
  [[nodiscard]] static Result<std::unique_ptr<Connection>> open_still(const std::string& path,
                                                                      const std::string& vfs);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] Result<void> execute(const char* sql);
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);

  /// Takes the write lock at once, waiting no longer than `patience` for it. unavailable: somebody
  /// else has it.
  [[nodiscard]] Result<void> begin_write(Durability durability, Duration patience);
  /// After this, all reads up to end_read() see one state.
  [[nodiscard]] Result<void> begin_read();
  void end_read() noexcept;

  /// On an error nothing is left open; its class says whether something may have been written.
  [[nodiscard]] Result<void> commit();
  void roll_back() noexcept;

  /// SQLite could not undo a transaction: open a new connection.
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }
  /// The last begin_write() failed only because the lock was taken.
  [[nodiscard]] bool was_busy() const noexcept { return was_busy_; }

  [[nodiscard]] bool is_read_only() const noexcept;

  /// Makes the database use a write-ahead log: a copy that was put back may have lost that.
  [[nodiscard]] Result<void> use_log();
  /// Closing this connection will leave the log as it is, even if it is the last one.
  void keep_log() noexcept;

  /// Pages in the write-ahead log after the last commit of this connection.
  [[nodiscard]] int log_pages() const noexcept { return log_pages_; }
  /// Copies what it can from the log to the database, without waiting for anybody.
  void checkpoint() noexcept;

  [[nodiscard]] Error error(int result, Phase phase, std::string_view doing) const;
  [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }

 private:
  struct Closer {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
  };
  explicit Connection(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] static Result<std::unique_ptr<Connection>> open_as(const std::string& path,
                                                                   const std::string& name,
                                                                   int flags,
                                                                   const std::string& vfs);
  [[nodiscard]] Result<void> prepare_own();
  [[nodiscard]] Result<void> set_durability(Durability durability);
  [[nodiscard]] int run(Statement& statement);
  static int wait_while_busy(void* self, int tries);
  static int note_log_size(void* self, sqlite3* db, const char* name, int pages);

  std::string path_;
  sqlite3_vfs* vfs_ = nullptr;
  std::unique_ptr<sqlite3, Closer> handle_;
  Statement begin_write_;
  Statement begin_read_;
  Statement commit_;
  Statement roll_back_;
  Durability durability_ = Durability::at_checkpoint;
  Duration patience_{};
  Duration waited_{};
  Duration waited_in_all_{};  ///< Since the last begin_write() that got the lock.
  int log_pages_ = 0;
  bool broken_ = false;
  bool was_busy_ = false;
};

}  // namespace tenure::sqlite
