// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/errors.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace tenure::sqlite {
namespace {

Errc classify_io_error(int extended, Phase phase) noexcept {
  switch (extended) {
    case SQLITE_IOERR_NOMEM:
    case SQLITE_IOERR_BLOCKED:
    case SQLITE_IOERR_LOCK:
    case SQLITE_IOERR_SHMLOCK:
    case SQLITE_IOERR_SHMSIZE:
    case SQLITE_IOERR_SHMMAP:
    case SQLITE_IOERR_SHMOPEN:
      return Errc::unavailable;  // All of these come before anything is written.
    case SQLITE_IOERR_CORRUPTFS:
      return Errc::corrupt;
    default:
      // The commit frame may be in the file although writing or syncing it failed: should every
      // process die now, the one that recovers would find it.
      return phase == Phase::commit ? Errc::outcome_unknown : Errc::unavailable;
  }
}

}  // namespace

Errc classify(int result, Phase phase) noexcept {
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_INTERRUPT:
    case SQLITE_SCHEMA:
    case SQLITE_PROTOCOL:
      return Errc::unavailable;
    case SQLITE_IOERR:
      return classify_io_error(result, phase);
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return Errc::permission_denied;
    case SQLITE_CANTOPEN:
      // The path has been looked at before: what is left is a lack of descriptors, or of rights,
      // which make_error() tells by the system's error number.
      return Errc::unavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_FORMAT:
      return Errc::corrupt;
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
      return Errc::invalid_argument;
    case SQLITE_NOLFS:
      return Errc::unsupported;
    case SQLITE_ERROR:
      // Our own statements are right; if they do not fit, the tables are not ours.
      return Errc::corrupt;
    default:
      return phase == Phase::commit ? Errc::outcome_unknown : Errc::unavailable;
  }
}

Error make_error(sqlite3* db, int result, Phase phase, std::string_view doing,
                 const std::string& path) {
  std::string message = "cannot ";
  message += doing;
  message += " " + path + ": ";
  message += db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(result);
  const int primary = result & 0xff;
  const int system = db != nullptr ? sqlite3_system_errno(db) : 0;
  if (system != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    message += " (";
    message += std::strerror(system);
    message += ")";
  }
  if (primary == SQLITE_BUSY) {
    message += "; another process has held its write lock all the time, perhaps a stopped one";
  }
  Errc code = classify(result, phase);
  if (primary == SQLITE_CANTOPEN && (system == EACCES || system == EPERM || system == EROFS)) {
    code = Errc::permission_denied;
  }
  return Error{code, std::move(message)};
}

Error make_system_error(int number, std::string_view doing, const std::string& path) {
  std::string message = "cannot ";
  message += doing;
  message += " " + path + ": ";
  message += std::strerror(number);
  switch (number) {
    case EACCES:
    case EPERM:
    case EROFS:
      return Error{Errc::permission_denied, std::move(message)};
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EISDIR:
    case ENAMETOOLONG:
    case EINVAL:
    case ENXIO:
      return Error{Errc::invalid_argument, std::move(message)};
    case EOPNOTSUPP:
    case ENOSYS:
      return Error{Errc::unsupported, std::move(message)};
    default:
      return Error{Errc::unavailable, std::move(message)};
  }
}

}  // namespace tenure::sqlite
