// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/executor.h>
#include <tenure/store.h>

#include <memory>
#include <optional>
#include <string>

namespace tenure {

/// Where the embedded store is kept, and what may be created there.
struct SqliteOptions {
  /// The database file. Not set: default_sqlite_path(). A relative path is taken from the current
  /// folder, once, when the store is opened. An empty path is invalid_argument.
  ///
  /// Beside PATH there will be PATH-wal and PATH-shm (SQLite's own) and PATH-lock (the sessions'
  /// kernel locks, and a mark of the tokens). All four belong together: never move or delete one of
  /// them while any process has the store open. They are named after the path, so the file must
  /// have one name only: no hard links, not mounted by itself.
  std::optional<std::string> path{};

  /// True: a missing or empty file becomes a new database; the folder must exist, except that the
  /// default folder is created, with mode 0700. False: nothing is created; while the file is
  /// missing, list() gives nothing, a watch waits for it to appear (it looks once a second) and
  /// acquire() answers not_found.
  bool create = true;

  /// The SQLite VFS to use, by its registered name. Empty: SQLite's default. For tests that cut the
  /// power or fill the disk; a VFS without working shared memory or locks breaks every promise.
  std::string vfs{};
};

/// `$XDG_STATE_HOME/tenure/tenure.db`, else `$HOME/.local/state/tenure/tenure.db`, else, for root,
/// `/var/lib/tenure/tenure.db`. A variable that is not an absolute path is as good as not set.
/// Nothing is created. Reads the environment: not while another thread changes that.
/// invalid_argument: none of these is there; give a path.
[[nodiscard]] Result<std::string> default_sqlite_path();

/// Opens the store of this host: a SQLite database that all candidates on it share.
///
///     auto store = tenure::open_sqlite_store({.path = "/var/lib/app/tenure.db"}, *runtime);
///     if (!store) return complain(store.error().message);
///
/// What it is like, beside the contract of LeaseStore:
///  - It judges expiry itself, exactly, by the boot clock that all processes of a host share. After
///    a reboot nobody holds anything.
///  - acquire() and release() are durable before they answer, tokens survive a power cut, and the
///    loss of SQLite's log; renew() is not, and needs not be. A full disk makes renew() fail
///    (unavailable), nothing else.
///  - A holder that is killed is noticed within milliseconds: each store object keeps a kernel lock
///    on one byte of PATH-lock for its life. inherited_fd() is that lock, -1 before there is one
///    (create = false: before the first acquire); read it when a child is started, not earlier.
///  - A store object that is closed or destroyed while it still holds records keeps that one
///    descriptor open for the life of the process, so that the ttl judges them, as the contract
///    says. A later store on the same file takes the descriptor over.
///  - A process that is stopped (SIGSTOP) while it writes blocks the writes of all others; they
///    answer unavailable by their limit, and watches and list() go on.
///
/// Opening is synchronous and takes some milliseconds, some more when the database is created.
/// `executor` must outlive the store.
///
/// Errors, all of which leave every file as it was, byte for byte:
///  - invalid_argument: no file can be there (empty path, missing folder, a directory, a device, a
///    symbolic link loop, a name that is too long), or the file has a second name;
///  - unsupported: a network file system, or this process has a boot clock of its own (a time
///    namespace), which cannot be compared with that of others;
///  - permission_denied: file or folder cannot be written;
///  - corrupt: not a tenure database, one of a newer tenure, or a damaged one;
///  - unavailable: disk full, out of descriptors, locked for seconds by another process.
///
/// Later, a request answers corrupt if the file has become one of those; an Election ends with
/// that. Whatever else has happened to the file meanwhile is unavailable: it may be put right.
[[nodiscard]] Result<std::unique_ptr<LeaseStore>> open_sqlite_store(SqliteOptions options,
                                                                    Executor& executor);

}  // namespace tenure
