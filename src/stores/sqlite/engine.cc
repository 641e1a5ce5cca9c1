// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/engine.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "stores/sqlite/creation.h"
#include "stores/sqlite/schema.h"

namespace tenure::sqlite {
namespace {

// One try for the write lock. Short, so that watches and list() of the same store go on meanwhile.
constexpr Duration kOneTry = std::chrono::milliseconds(20);

// 256 KiB: a checkpoint costs two disk writes, so it should be rare; but a process that finds
// nobody else at the database, as every `tenure lock` by itself does, reads the whole log first.
constexpr int kLogPages = 64;

Effect strongest(const OperationQueue::Batch& batch) {
  Effect effect = Effect::none;
  for (const auto& each : batch) effect = std::max(effect, each->effect());
  return effect;
}

void set_all(OperationQueue::Batch& batch, const Error& error) {
  for (const auto& operation : batch) operation->set_error(error);
}

}  // namespace

Engine::Engine(SqliteOptions options, Environment environment, Executor& executor)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      executor_(executor),
      process_(::getpid()) {}

Engine::~Engine() { close(); }

void Engine::close() noexcept {
  is_closed_ = true;
  if (::getpid() != process_) {
    // Leaked on purpose.
    if (database_ != nullptr) database_->abandon();
    static_cast<void>(lock_.release());
    return;
  }
  drop_lock();
  database_.reset();
}

Result<bool> Engine::open() {
  auto location = resolve_location(options_, environment_);
  if (!location) return tl::unexpected<Error>(std::move(location.error()));
  location_ = std::move(*location);
  lock_path_ = location_.lock_path();
  auto opened = ensure_open(Effect::granting);
  if (!opened && lock_ != nullptr) {
    // Nothing is held through it yet, and nothing must be left of a refusal.
    auto found = look_at(location_, options_.vfs);
    if (!found || *found != Content::tenure) lock_->remove_if_new();
    inherited_fd_ = -1;
    lock_.reset();
  }
  return opened;
}

Result<bool> Engine::ensure_open(Effect effect) {
  if (is_closed_) return fail(Errc::closed, "the store is closed");
  const Instant now = executor_.clock().now();
  if (database_ && !database_->is_spent(effect == Effect::fleeting, now)) return true;
  database_.reset();
  auto found = look_at(location_, options_.vfs);
  if (!found) return tl::unexpected<Error>(std::move(found.error()));
  if (*found != Content::tenure) {
    if (!options_.create) return false;
    if (auto made = create_missing(); !made) return tl::unexpected(made.error());
    found = look_at(location_, options_.vfs);
    if (!found) return tl::unexpected<Error>(std::move(found.error()));
  } else if (options_.create) {
    if (auto writable = check_writable(location_); !writable)
      return tl::unexpected(writable.error());
  }
  if (auto connected = connect(); !connected) return tl::unexpected(connected.error());
  return true;
}

Result<bool> Engine::reopen(Effect effect) {
  auto open = ensure_open(effect);
  // Nobody asked for the wrong thing: what is there now was put there meanwhile, and may go again.
  if (!open && open.error().code == Errc::invalid_argument) open.error().code = Errc::unavailable;
  return open;
}

Result<void> Engine::create_missing() {
  if (auto writable = check_writable(location_); !writable) return writable;
  if (auto taken = take_lock(); !taken) return taken;
  return create_database(location_, *lock_, options_.vfs);
}

Result<void> Engine::connect() {
  auto database = Database::open(location_.path, options_.vfs, options_.create);
  if (!database) return tl::unexpected<Error>(std::move(database.error()));
  if (options_.create) {
    if (auto taken = take_lock(); !taken) return taken;
  } else if (lock_ == nullptr) {
    lock_ = SessionLock::look(lock_path_);
  }
  database_ = std::move(*database);
  observer_.forget_version();
  return {};
}

Result<void> Engine::take_lock() {
  if (lock_ != nullptr && lock_->is_session() && !lock_->is_replaced()) return {};
  auto taken = SessionLock::take(lock_path_, location_.path, [this] { return executor_.random(); });
  if (!taken) return tl::unexpected<Error>(std::move(taken.error()));
  drop_lock();
  lock_ = std::move(*taken);
  inherited_fd_ = lock_->fd();
  return {};
}

bool Engine::holds_anything() noexcept {
  if (lock_ == nullptr || !lock_->is_session()) return false;
  const Instant now = executor_.clock().now();
  if (database_ == nullptr || database_->is_spent(false, now)) return true;
  auto rows = database_->table().changed_since(0);
  if (!rows) return true;
  return std::any_of(rows->begin(), rows->end(), [&](const Row& row) {
    return row.is_held && row.lock == lock_->place() && row.expires > now &&
           row.boot_id == environment_.boot_id;
  });
}

void Engine::drop_lock() noexcept {
  if (holds_anything()) lock_->keep();
  inherited_fd_ = -1;
  lock_.reset();
}

Ledger Engine::ledger() const {
  return Ledger(database_->table(), *lock_, environment_.boot_id, executor_.clock());
}

void Engine::run(OperationQueue::Batch& batch, OperationQueue::Batch& again) {
  has_changed_ = false;
  const Effect effect = strongest(batch);
  auto open = reopen(effect);
  if (!open) {
    set_all(batch, open.error());
  } else if (effect == Effect::none) {
    run_reads(batch);
  } else if (!*open) {
    set_all(batch, Error{Errc::not_found, "there is no database at " + location_.path});
  } else {
    run_writes(batch, again);
  }
}

void Engine::run_reads(OperationQueue::Batch& batch) {
  if (database_ == nullptr) {
    for (const auto& operation : batch) operation->set_nothing();
    return;
  }
  if (auto begun = connection().begin_read(); !begun) return set_all(batch, begun.error());
  Ledger rows = ledger();
  for (const auto& operation : batch) {
    if (auto done = operation->carry_out(rows, kLongAgo); !done) operation->set_error(done.error());
  }
  connection().end_read();
  if (auto true_still = database_->confirm(); !true_still) set_all(batch, true_still.error());
}

void Engine::run_writes(OperationQueue::Batch& batch, OperationQueue::Batch& again) {
  const Instant now = executor_.clock().now();
  std::stable_partition(batch.begin(), batch.end(),
                        [&](const auto& each) { return each->limit() > now; });
  const auto late = std::find_if(batch.begin(), batch.end(),
                                 [&](const auto& each) { return each->limit() <= now; });
  OperationQueue::Batch rest(late, batch.end());
  set_all(rest, Error{Errc::unavailable,
                      "the time limit passed before " + location_.path + " could be written"});
  OperationQueue::Batch writes(batch.begin(), late);
  const Effect effect = strongest(writes);
  if (effect >= Effect::durable) {
    if (auto done = answer_losers(writes); !done) return set_all(writes, done.error());
  }
  if (effect == Effect::granting) refuse_by_name(writes);
  if (writes.empty()) return;
  auto done = write(writes, effect);
  if (done) return;
  const bool is_busy = std::exchange(was_busy_, false);
  for (const auto& each : writes) {
    each->set_error(done.error());
    if (!is_busy || each->limit() <= executor_.clock().now()) continue;
    again.push_back(each);
    std::erase(batch, each);
  }
}

Result<void> Engine::answer_losers(OperationQueue::Batch& batch) {
  if (auto taken = take_lock(); !taken) return taken;
  if (auto begun = connection().begin_read(); !begun) return begun;
  Ledger rows = ledger();
  Result<void> failed;
  std::erase_if(batch, [&](const auto& each) {
    auto answered = each->answer_by_reading(rows);
    if (!answered) failed = tl::unexpected<Error>(answered.error());
    return answered && *answered;
  });
  connection().end_read();
  return failed;
}

// Those that hold go on: nobody can open the file by either name meanwhile.
void Engine::refuse_by_name(OperationQueue::Batch& batch) {
  const auto alone = check_only_name(location_.path);
  if (alone) return;
  std::erase_if(batch, [&](const auto& each) {
    if (each->effect() != Effect::granting) return false;
    each->set_error(Error{Errc::unavailable, alone.error().message});
    return true;
  });
}

Result<void> Engine::write(OperationQueue::Batch& batch, Effect effect) {
  const Durability durability =
      effect >= Effect::durable ? Durability::at_commit : Durability::at_checkpoint;
  Instant limit = kNever;
  for (const auto& each : batch) limit = std::min(limit, each->limit());
  // Validity counts from before the transaction, however long the lock is waited for.
  const Instant sent_at = executor_.clock().now();
  const Duration patience = std::min(kOneTry, saturating_between(sent_at, limit));
  if (auto begun = connection().begin_write(durability, patience); !begun) {
    was_busy_ = connection().was_busy();
    return begun;
  }
  Ledger rows = ledger();
  for (const auto& each : batch) {
    if (!each->start()) continue;
    if (auto done = each->carry_out(rows, sent_at); !done) {
      connection().roll_back();
      return done;
    }
  }
  // Whatever the commit will answer.
  if (rows.has_changed()) observer_.note_own_change();
  if (auto done = connection().commit(); !done) return done;
  note_commit(rows.has_changed());
  return {};
}

Result<Observation> Engine::observe(Depth depth, bool present) {
  auto open = reopen(Effect::none);
  if (!open) return tl::unexpected<Error>(std::move(open.error()));
  if (!*open) return observer_.look_at_nothing(present);
  if (depth != Depth::changes && lock_->is_replaced()) {
    if (lock_->is_session()) {
      if (auto taken = take_lock(); !taken) return tl::unexpected<Error>(std::move(taken.error()));
    } else {
      lock_ = SessionLock::look(lock_path_);
    }
  }
  if (auto begun = connection().begin_read(); !begun) {
    return tl::unexpected<Error>(std::move(begun.error()));
  }
  auto seen = observer_.look(database_->table(), ledger(), executor_.clock().now(), depth, present);
  connection().end_read();
  if (auto true_still = database_->confirm(); !true_still) {
    observer_.forget_version();
    return tl::unexpected<Error>(std::move(true_still.error()));
  }
  return seen;
}

void Engine::note_commit(bool has_changed) noexcept {
  has_changed_ = has_changed;
  if (has_changed) lock_->ring();
  // Fewer than before: the log has begun again.
  log_pages_ = connection().log_pages();
  if (log_pages_ < checkpointed_pages_) checkpointed_pages_ = 0;
}

bool Engine::wants_checkpoint() const noexcept {
  return database_ != nullptr && log_pages_ - checkpointed_pages_ >= kLogPages;
}

void Engine::checkpoint() noexcept {
  if (!wants_checkpoint()) return;
  connection().checkpoint();
  checkpointed_pages_ = log_pages_;
}

}  // namespace tenure::sqlite
