// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/database.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "stores/sqlite/schema.h"
#include "stores/sqlite/vfs_file.h"

namespace tenure::sqlite {
namespace {

constexpr Duration kLookAgain = std::chrono::seconds(1);

// What SQLite has beside a database before it is opened, so that it can be left like that.
struct Beside {
  explicit Beside(const std::string& path) {
    struct stat info {};
    has_log = ::stat((path + "-wal").c_str(), &info) == 0 && info.st_size > 0;
    has_index = ::stat((path + "-shm").c_str(), &info) == 0;
    is_alone = !has_index && ::stat((path + "-wal").c_str(), &info) != 0;
  }
  bool is_alone = false;  ///< Then nobody has it open, and all that was ever committed is in it.
  bool has_log = false;
  bool has_index = false;
};

// SQLite takes its index away together with the log, which has to stay here.
void remove_index(const std::string& path, const std::string& vfs) {
  const auto file = VfsFile::open(path, vfs, VfsFile::Access::write);
  if (!file || !(*file)->try_lock()) return;
  // maybe: not permitted; it is an index, and holds nothing.
  static_cast<void>(::unlink((path + "-shm").c_str()));
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& path, const std::string& vfs,
                                                 bool must_write) {
  std::unique_ptr<Database> database(new Database);
  const Beside before(path);
  auto connected = database->connect(path, vfs, must_write);
  if (!connected && before.is_alone && !must_write) {
    database.reset(new Database);
    if (database->connect_still(path, vfs)) return database;
  }
  if (connected) return database;
  if (database->connection_ != nullptr && before.has_log) {
    database->connection_->keep_log();
    database.reset();
    if (!before.has_index) remove_index(path, vfs);
  }
  return tl::unexpected<Error>(std::move(connected.error()));
}

Database::~Database() {
  if (connection_ != nullptr && !files_.are_in_place()) connection_->keep_log();
}

bool Database::is_spent(bool is_renewal, Instant now) noexcept {
  if (is_still_ || connection_->is_broken()) return true;
  if (is_renewal && saturating_between(looked_at_, now) < kLookAgain) {
    return !files_.is_database_in_place();
  }
  looked_at_ = now;
  return !files_.are_in_place();
}

Result<void> Database::connect(const std::string& path, const std::string& vfs, bool must_write) {
  auto connection = Connection::open(path, vfs);
  if (!connection) return tl::unexpected<Error>(std::move(connection.error()));
  connection_ = std::move(*connection);
  if (must_write && connection_->is_read_only()) {
    return fail(Errc::permission_denied, "cannot write " + path);
  }
  if (auto ours = look_through(path); !ours) return ours;
  if (auto logs = connection_->use_log(); !logs) return logs;
  files_ = OpenFiles(path);
  return {};
}

Result<void> Database::connect_still(const std::string& path, const std::string& vfs) {
  is_still_ = true;
  files_ = OpenFiles(path);
  auto connection = Connection::open_still(path, vfs);
  if (!connection) return tl::unexpected<Error>(std::move(connection.error()));
  connection_ = std::move(*connection);
  return look_through(path);
}

Result<void> Database::look_through(const std::string& path) {
  if (auto ours = check_schema(*connection_, path); !ours) return ours;
  auto table = Table::prepare(*connection_);
  if (!table) return tl::unexpected<Error>(std::move(table.error()));
  table_ = std::move(*table);
  return {};
}

Result<void> Database::confirm() const {
  if (!is_still_ || files_.are_untouched()) return {};
  return fail(Errc::unavailable, "the database was opened by somebody else just now; ask again");
}

void Database::abandon() noexcept {
  static_cast<void>(table_.release());
  static_cast<void>(connection_.release());
}

}  // namespace tenure::sqlite
