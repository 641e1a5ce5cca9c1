// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/time.h>

#include <memory>
#include <string>

#include "stores/sqlite/connection.h"
#include "stores/sqlite/open_files.h"
#include "stores/sqlite/table.h"

namespace tenure::sqlite {

/// An open database that has been looked through: a connection, its statements, the files it uses.
class Database {
 public:
  /// Opens what is at the path, once look_at() has seen it. A refusal leaves the file and those
  /// beside it as they were.
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& path,
                                                              const std::string& vfs,
                                                              bool must_write);

  /// If other files have taken the place of those in use, what is in their log is left there:
  /// SQLite would bring it into the database, and then delete the log that has its name by now.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] Connection& connection() const noexcept { return *connection_; }
  [[nodiscard]] Table& table() const noexcept { return *table_; }

  /// To be opened anew: SQLite could not undo a transaction, or other files have taken the place of
  /// those in use. For renewals, which come often and cost little, it will do to have looked at all
  /// of them within the last second.
  [[nodiscard]] bool is_spent(bool is_renewal, Instant now) noexcept;

  /// To be called after reading. unavailable: what was read may be torn, ask again. Only for who
  /// may not write beside the database, and so reads it without a lock while nobody has it open.
  [[nodiscard]] Result<void> confirm() const;

  /// Leaves the connections open that a fork has made unusable.
  void abandon() noexcept;

 private:
  Database() = default;
  [[nodiscard]] Result<void> connect(const std::string& path, const std::string& vfs,
                                     bool must_write);
  [[nodiscard]] Result<void> connect_still(const std::string& path, const std::string& vfs);
  [[nodiscard]] Result<void> look_through(const std::string& path);

  // The table's statements must go before their connection.
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<Table> table_;
  OpenFiles files_;
  Instant looked_at_ = kLongAgo;
  bool is_still_ = false;
};

}  // namespace tenure::sqlite
