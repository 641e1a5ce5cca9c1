// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/executor.h>
#include <tenure/store.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure {

/// What a memory backend is like, so that one test can be run against every kind of store.
struct MemoryOptions {
  /// observers: records never end by themselves; whoever watches judges them, as with stores that
  /// are plain databases.
  ExpiryBy expiry = ExpiryBy::store;

  /// True: candidates stand in line and are served in order of arrival, as in etcd. A place in line
  /// is kept while the store object that took it is open, and for one ttl after that.
  bool has_queue = false;

  /// A smaller ttl is refused (invalid_argument).
  Duration min_ttl = std::chrono::milliseconds(100);

  /// A longer ttl is granted as this much, as real servers do.
  Duration max_ttl = kForever;
};

/// The "server" of the memory store: lock records in this process, shared by any number of store
/// objects on any executors. For tests and simulations; nothing survives the process.
///
///     auto backend = MemoryBackend::make(clock);
///     auto ours = make_memory_store(backend, executor);
///     auto theirs = make_memory_store(backend, executor);
///     backend->force_delete("billing");      // what an operator might do
///
/// Records expire exactly at their ttl, by the backend's own clock; tokens only ever grow.
///
/// Thread-safety: everything may be called from any thread.
class MemoryBackend {
 public:
  /// `clock` must outlive the backend and every store on it.
  [[nodiscard]] static std::shared_ptr<MemoryBackend> make(Clock& clock,
                                                           MemoryOptions options = {});

  /// The process's backend of that name, made if no store is open on it. Its tokens go on growing
  /// from where the last one of that name ended. The name may be empty. invalid_argument: a bad
  /// name, or the backend is in use on another clock.
  [[nodiscard]] static Result<std::shared_ptr<MemoryBackend>> named(std::string_view name,
                                                                    Clock& clock);

  virtual ~MemoryBackend() = default;

  [[nodiscard]] virtual const MemoryOptions& options() const noexcept = 0;

  /// Removes the holder's record, as an operator might; the next in line follows. False: nobody
  /// held it.
  virtual bool force_delete(std::string_view election) = 0;

  /// Puts a record of somebody else in the place of whatever is there, line included.
  virtual Record force_takeover(std::string_view election, std::string_view id,
                                std::string_view session, Duration ttl) = 0;

  /// The present states, ordered by name: what list() of a store would say.
  [[nodiscard]] virtual std::vector<ElectionState> elections() const = 0;
};

/// A client of `backend`, on `executor`, which must outlive it. Every request is carried out at
/// once and answered by a task on the loop. Never null.
[[nodiscard]] std::shared_ptr<LeaseStore> make_memory_store(std::shared_ptr<MemoryBackend> backend,
                                                            Executor& executor);

/// The store of a URL: `memory:` or `memory:NAME`, on MemoryBackend::named(NAME). Errors as there.
[[nodiscard]] Result<std::shared_ptr<LeaseStore>> open_memory_store(std::string_view url,
                                                                    Executor& executor);

}  // namespace tenure
