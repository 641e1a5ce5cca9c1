// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>
#include <tenure/sqlite_store.h>

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>

#include "stores/sqlite/database.h"
#include "stores/sqlite/environment.h"
#include "stores/sqlite/location.h"
#include "stores/sqlite/observer.h"
#include "stores/sqlite/operation.h"
#include "stores/sqlite/session_lock.h"

namespace tenure::sqlite {

/// The files of one store object: two connections, because durability is a property of one, and the
/// session's kernel lock. Opens the database anew when another one has taken its place.
///
/// Thread-safety: one thread at a time, but inherited_fd().
class Engine {
 public:
  /// `executor` gives time and random numbers only, and must outlive the engine.
  Engine(SqliteOptions options, Environment environment, Executor& executor);
  /// As close(). In a forked child it leaves everything alone: SQLite's connections do not survive
  /// a fork, and closing them there could harm the parent's.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// True: open. False: there is no database, and it is not to be created.
  [[nodiscard]] Result<bool> open();

  /// Carries out a batch and sets the answers. What could not be done because another process holds
  /// the write lock, and has time left, is moved to `again`.
  void run(OperationQueue::Batch& batch, OperationQueue::Batch& again);

  /// Whether the last run() changed a holder.
  [[nodiscard]] bool has_changed() const noexcept { return has_changed_; }

  [[nodiscard]] Result<Observation> observe(Depth depth, bool present);

  /// The log has grown so much since the last one that a checkpoint() is worth its disk writes.
  [[nodiscard]] bool wants_checkpoint() const noexcept;
  void checkpoint() noexcept;

  /// Everything after this answers Errc::closed.
  void close() noexcept;

  [[nodiscard]] int inherited_fd() const noexcept { return inherited_fd_.load(); }
  /// Empty if there has never been a folder for it.
  [[nodiscard]] const std::string& lock_path() const noexcept { return lock_path_; }

 private:
  [[nodiscard]] Result<bool> ensure_open(Effect effect);
  /// As that, in the course of business.
  [[nodiscard]] Result<bool> reopen(Effect effect);
  [[nodiscard]] Result<void> create_missing();
  [[nodiscard]] Result<void> connect();
  [[nodiscard]] Result<void> take_lock();
  [[nodiscard]] bool holds_anything() noexcept;
  void drop_lock() noexcept;

  void run_reads(OperationQueue::Batch& batch);
  void run_writes(OperationQueue::Batch& batch, OperationQueue::Batch& again);
  [[nodiscard]] Result<void> write(OperationQueue::Batch& batch, Effect effect);
  void note_commit(bool has_changed) noexcept;
  [[nodiscard]] Result<void> answer_losers(OperationQueue::Batch& batch);
  [[nodiscard]] Connection& connection() const noexcept { return database_->connection(); }
  void refuse_by_name(OperationQueue::Batch& batch);
  [[nodiscard]] Ledger ledger() const;

  SqliteOptions options_;
  Environment environment_;
  Executor& executor_;
  Location location_;
  std::string lock_path_;
  const pid_t process_;
  std::unique_ptr<SessionLock> lock_;
  std::unique_ptr<Database> database_;
  Observer observer_;
  int log_pages_ = 0;           ///< After our last commit.
  int checkpointed_pages_ = 0;  ///< Of them, those that our last checkpoint has seen.
  bool has_changed_ = false;
  bool was_busy_ = false;
  bool is_closed_ = false;
  std::atomic<int> inherited_fd_{-1};
};

}  // namespace tenure::sqlite
