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

Error closed_error() { return Error{Errc::closed, "the store is closed"}; }

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
    static_cast<void>(durable_table_.release());
    static_cast<void>(quick_table_.release());
    static_cast<void>(durable_.release());
    static_cast<void>(quick_.release());
    static_cast<void>(lock_.release());
    return;
  }
  drop_lock();
  disconnect();
}

Result<bool> Engine::open() {
  auto location = resolve_location(options_, environment_);
  if (!location) return tl::unexpected<Error>(std::move(location.error()));
  location_ = std::move(*location);
  lock_path_ = location_.lock_path();
  return ensure_open();
}

Result<bool> Engine::ensure_open() {
  if (is_closed_) return tl::unexpected<Error>(closed_error());
  if (quick_ != nullptr && !quick_->is_broken() && !durable_->is_broken() && !quick_->has_moved()) {
    return true;
  }
  disconnect();
  auto found = look_at(location_, options_.vfs);
  if (!found) return tl::unexpected<Error>(std::move(found.error()));
  if (*found != Content::tenure) {
    if (!options_.create) return false;
    if (auto made = create_missing(*found); !made) {
      return tl::unexpected<Error>(std::move(made.error()));
    }
    found = look_at(location_, options_.vfs);
    if (!found) return tl::unexpected<Error>(std::move(found.error()));
  } else if (options_.create) {
    if (auto writable = check_writable(location_); !writable) {
      return tl::unexpected<Error>(std::move(writable.error()));
    }
  }
  if (auto connected = connect(); !connected) {
    disconnect();
    return tl::unexpected<Error>(std::move(connected.error()));
  }
  return true;
}

Result<void> Engine::create_missing(Content found) {
  if (auto writable = check_writable(location_); !writable) return writable;
  if (auto taken = take_lock(); !taken) return taken;
  return create_database(location_, found, *lock_, options_.vfs, executor_.random());
}

Result<void> Engine::connect() {
  auto quick = Connection::open(location_.path, options_.vfs, Durability::at_checkpoint);
  if (!quick) return tl::unexpected<Error>(std::move(quick.error()));
  if (options_.create && (*quick)->is_read_only()) {
    return fail(Errc::permission_denied, "cannot write " + location_.path);
  }
  if (auto ours = check_schema(**quick, location_.path); !ours) return ours;
  auto durable = Connection::open(location_.path, options_.vfs, Durability::at_commit);
  if (!durable) return tl::unexpected<Error>(std::move(durable.error()));
  auto quick_table = Table::prepare(**quick);
  if (!quick_table) return tl::unexpected<Error>(std::move(quick_table.error()));
  auto durable_table = Table::prepare(**durable);
  if (!durable_table) return tl::unexpected<Error>(std::move(durable_table.error()));
  if (options_.create) {
    if (auto taken = take_lock(); !taken) return taken;
  } else if (lock_ == nullptr) {
    lock_ = SessionLock::look(lock_path_);
  }
  quick_ = std::move(*quick);
  durable_ = std::move(*durable);
  quick_table_ = std::move(*quick_table);
  durable_table_ = std::move(*durable_table);
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
  if (quick_ == nullptr) return true;
  auto rows = quick_table_->changed_since(0);
  if (!rows) return true;
  const Instant now = executor_.clock().now();
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

void Engine::disconnect() noexcept {
  durable_table_.reset();
  quick_table_.reset();
  durable_.reset();
  quick_.reset();
}

Ledger Engine::ledger(Table& table) const {
  return Ledger(table, *lock_, environment_.boot_id, executor_.clock());
}

void Engine::run(OperationQueue::Batch& batch, OperationQueue::Batch& again) {
  has_changed_ = false;
  auto open = ensure_open();
  if (!open) {
    set_all(batch, open.error());
  } else if (batch.front()->effect() == Effect::none) {
    run_reads(batch);
  } else if (!*open) {
    set_all(batch, Error{Errc::not_found, "there is no database at " + location_.path});
  } else {
    run_writes(batch, again);
  }
}

void Engine::run_reads(OperationQueue::Batch& batch) {
  if (quick_ == nullptr) {
    for (const auto& operation : batch) operation->set_nothing();
    return;
  }
  if (auto begun = quick_->begin_read(); !begun) return set_all(batch, begun.error());
  Ledger rows = ledger(*quick_table_);
  for (const auto& operation : batch) {
    if (auto done = operation->carry_out(rows, kLongAgo); !done) operation->set_error(done.error());
  }
  quick_->end_read();
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
  Effect effect = Effect::fleeting;
  for (const auto& each : writes) effect = std::max(effect, each->effect());
  if (effect == Effect::durable) {
    if (auto done = answer_losers(writes); !done) return set_all(writes, done.error());
  }
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
  if (auto begun = quick_->begin_read(); !begun) return begun;
  Ledger rows = ledger(*quick_table_);
  Result<void> failed;
  std::erase_if(batch, [&](const auto& each) {
    auto answered = each->answer_by_reading(rows);
    if (!answered) failed = tl::unexpected<Error>(answered.error());
    return answered && *answered;
  });
  quick_->end_read();
  return failed;
}

Result<void> Engine::write(OperationQueue::Batch& batch, Effect effect) {
  const bool durable = effect == Effect::durable;
  Connection& connection = durable ? *durable_ : *quick_;
  Instant limit = kNever;
  for (const auto& each : batch) limit = std::min(limit, each->limit());
  // Validity counts from before the transaction, however long the lock is waited for.
  const Instant sent_at = executor_.clock().now();
  const Duration patience = std::min(kOneTry, saturating_between(sent_at, limit));
  if (auto begun = connection.begin_write(patience); !begun) {
    was_busy_ = connection.was_busy();
    return begun;
  }
  Ledger rows = ledger(durable ? *durable_table_ : *quick_table_);
  for (const auto& each : batch) {
    if (!each->start()) continue;
    if (auto done = each->carry_out(rows, sent_at); !done) {
      connection.roll_back();
      return done;
    }
  }
  if (auto done = connection.commit(); !done) return done;
  note_log(connection.log_pages());
  has_changed_ = rows.has_changed();
  if (has_changed_) lock_->ring();
  return {};
}

Result<Observation> Engine::observe(Depth depth, bool present) {
  auto open = ensure_open();
  if (!open) return tl::unexpected<Error>(std::move(open.error()));
  if (!*open) return observer_.look_at_nothing(present);
  if (depth != Depth::changes && lock_->is_replaced()) {
    if (lock_->is_session()) {
      if (auto taken = take_lock(); !taken) return tl::unexpected<Error>(std::move(taken.error()));
    } else {
      lock_ = SessionLock::look(lock_path_);
    }
  }
  if (auto begun = quick_->begin_read(); !begun) {
    return tl::unexpected<Error>(std::move(begun.error()));
  }
  auto seen =
      observer_.look(*quick_table_, ledger(*quick_table_), executor_.clock().now(), depth, present);
  quick_->end_read();
  return seen;
}

void Engine::note_log(int pages) noexcept {
  // Fewer than before: the log has begun again.
  if (pages < checkpointed_pages_) checkpointed_pages_ = 0;
  log_pages_ = pages;
}

bool Engine::wants_checkpoint() const noexcept {
  return quick_ != nullptr && log_pages_ - checkpointed_pages_ >= kLogPages;
}

void Engine::checkpoint() noexcept {
  if (!wants_checkpoint()) return;
  quick_->checkpoint();
  checkpointed_pages_ = log_pages_;
}

}  // namespace tenure::sqlite
