// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/connection.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tenure::sqlite {
namespace {

using std::chrono::microseconds;

constexpr const char* kSettings =
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA synchronous = NORMAL;";

// Short at first: what is waited for is mostly one disk write of somebody else. Then an eighth of
// what was waited so far, so that a writer who stays costs nobody else a processor.
constexpr microseconds kShortestWait{200};
constexpr microseconds kLongestWait{20'000};
constexpr int kShareOfWait = 8;

}  // namespace

Statement::Statement(Connection& connection, sqlite3_stmt* handle) noexcept
    : connection_(&connection), handle_(handle) {}

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(handle_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view value) {
  sqlite3_bind_text64(handle_.get(), index, value.data(), value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Result<bool> Statement::step() {
  const int result = sqlite3_step(handle_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) {
    sqlite3_reset(handle_.get());
    return false;
  }
  Error error =
      connection_->error(sqlite3_extended_errcode(connection_->handle()), Phase::working, "use");
  sqlite3_reset(handle_.get());
  return tl::unexpected<Error>(std::move(error));
}

void Statement::rewind() noexcept { sqlite3_reset(handle_.get()); }

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* data = sqlite3_column_blob(handle_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), size);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path,
                                                     const std::string& vfs) {
  // Not creating is essential: the file has been checked, and whatever appears in its place since
  // has not.
  return open_as(path, path, SQLITE_OPEN_READWRITE, vfs);
}

Result<std::unique_ptr<Connection>> Connection::open_still(const std::string& path,
                                                           const std::string& vfs) {
  std::string name = "file:";
  for (const char byte : path) {
    if (byte == '%' || byte == '?' || byte == '#') {
      name += byte == '%' ? "%25" : byte == '?' ? "%3f" : "%23";
    } else {
      name += byte;
    }
  }
  return open_as(path, name + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, vfs);
}

Result<std::unique_ptr<Connection>> Connection::open_as(const std::string& path,
                                                        const std::string& name, int flags,
                                                        const std::string& vfs) {
  std::unique_ptr<Connection> connection(new Connection(path));
  connection->vfs_ = sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str());
  if (connection->vfs_ == nullptr) {
    return fail(Errc::invalid_argument, "there is no SQLite VFS named \"" + vfs + "\"");
  }
  // No mutex: a connection is only ever used by its strand.
  flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &handle, flags, connection->vfs_->zName);
  connection->handle_.reset(handle);
  if (result != SQLITE_OK) {
    return tl::unexpected<Error>(make_error(handle, result, Phase::opening, "open", path));
  }
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_busy_handler(handle, &Connection::wait_while_busy, connection.get());
  // Replaces SQLite's own automatic checkpoint, which would run inside a renewal.
  sqlite3_wal_hook(handle, &Connection::note_log_size, connection.get());
  connection->patience_ = std::chrono::seconds(2);
  if (auto done = connection->execute(kSettings); !done) return tl::unexpected(done.error());
  if (auto done = connection->prepare_own(); !done) return tl::unexpected(done.error());
  return connection;
}

Result<void> Connection::prepare_own() {
  const std::pair<Statement*, const char*> statements[] = {{&begin_write_, "BEGIN IMMEDIATE"},
                                                           {&begin_read_, "BEGIN"},
                                                           {&commit_, "COMMIT"},
                                                           {&roll_back_, "ROLLBACK"}};
  for (const auto& [statement, sql] : statements) {
    auto prepared = prepare(sql);
    if (!prepared) return tl::unexpected(prepared.error());
    *statement = std::move(*prepared);
  }
  return {};
}

Result<void> Connection::execute(const char* sql) {
  waited_ = Duration::zero();
  const int result = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (result == SQLITE_OK) return {};
  return tl::unexpected<Error>(error(result, Phase::opening, "open"));
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) return tl::unexpected<Error>(error(result, Phase::working, "use"));
  return Statement(*this, statement);
}

int Connection::run(Statement& statement) {
  if (statement.step()) return SQLITE_OK;
  return sqlite3_extended_errcode(handle_.get());
}

Result<void> Connection::set_durability(Durability durability) {
  if (durability == durability_) return {};
  const bool at_commit = durability == Durability::at_commit;
  auto done = execute(at_commit ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  if (done) durability_ = durability;
  return done;
}

Result<void> Connection::begin_write(Durability durability, Duration patience) {
  if (auto set = set_durability(durability); !set) return set;
  patience_ = patience;
  waited_ = Duration::zero();
  was_busy_ = false;
  auto begun = begin_write_.step();
  if (begun) {
    waited_in_all_ = Duration::zero();
    return {};
  }
  was_busy_ = (sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_BUSY;
  return tl::unexpected<Error>(std::move(begun.error()));
}

Result<void> Connection::begin_read() {
  patience_ = std::chrono::milliseconds(25);
  waited_ = Duration::zero();
  auto begun = begin_read_.step();
  if (!begun) return tl::unexpected<Error>(std::move(begun.error()));
  return {};
}

void Connection::end_read() noexcept { roll_back(); }

Result<void> Connection::commit() {
  // A write lock is held already, so nothing here waits for another process.
  const int result = run(commit_);
  if (result == SQLITE_OK) return {};
  Error failure = error(result, Phase::commit, "commit to");
  roll_back();
  return tl::unexpected<Error>(std::move(failure));
}

void Connection::roll_back() noexcept {
  // SQLite has already undone the transaction after some errors, and says so here.
  if (sqlite3_get_autocommit(handle_.get()) != 0) return;
  // maybe: fails because there is nothing left to undo; what counts is the state afterwards.
  static_cast<void>(run(roll_back_));
  if (sqlite3_get_autocommit(handle_.get()) == 0) broken_ = true;
}

bool Connection::is_read_only() const noexcept {
  return sqlite3_db_readonly(handle_.get(), "main") == 1;
}

Result<void> Connection::use_log() {
  // Without rights to write it can only be read.
  return is_read_only() ? Result<void>{} : execute("PRAGMA journal_mode = WAL");
}

void Connection::keep_log() noexcept {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void Connection::checkpoint() noexcept {
  // maybe: a reader or another checkpoint is in the way; some commits later it is tried again.
  sqlite3_wal_checkpoint_v2(handle_.get(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

Error Connection::error(int result, Phase phase, std::string_view doing) const {
  return make_error(handle_.get(), result, phase, doing, path_);
}

int Connection::wait_while_busy(void* self, int /*tries*/) {
  auto& connection = *static_cast<Connection*>(self);
  const Duration left = connection.patience_ - connection.waited_;
  if (left <= Duration::zero()) return 0;
  const Duration step = std::min(
      left,
      std::clamp<Duration>(connection.waited_in_all_ / kShareOfWait, kShortestWait, kLongestWait));
  const auto rounded = std::chrono::ceil<microseconds>(step);
  connection.vfs_->xSleep(connection.vfs_, static_cast<int>(rounded.count()));
  connection.waited_ += step;
  connection.waited_in_all_ += step;
  return 1;
}

int Connection::note_log_size(void* self, sqlite3* /*db*/, const char* /*name*/, int pages) {
  static_cast<Connection*>(self)->log_pages_ = pages;
  return SQLITE_OK;
}

}  // namespace tenure::sqlite
