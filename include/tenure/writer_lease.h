// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/error.h>
#include <tenure/time.h>
#include <tenure/work.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace tenure {

namespace runtime {
class WriterLeaseEngine;
}

/// How a writer lease behaves. The defaults suit replicas that keep a status up to date.
struct WriterLeaseOptions {
  /// How long a success keeps the writers of other processes back, and how long this process stands
  /// back at most. More than 0. Danger: it is also how long work may wait after the writer died.
  Duration lease = std::chrono::seconds(60);

  /// How long work that asks for a retry waits. 0 or more; 0 retries at once, for ever if need be.
  Duration retry_interval = std::chrono::seconds(1);

  /// How long a follower stands back after it has seen another writer: `first`, then each step the
  /// one before plus up to `jitter` of it, times `factor`, never above the lease; past `steps`
  /// steps the lease itself. New work of a follower waits 2 x `first` at the least. first: 0 or
  /// more. factor: 1 or more. jitter: 0 to 1; danger: without any, rivals try at the same instant.
  /// steps: 0 to 64. Danger of a short `first`: see docs/writer-lease.md; with less than the time
  /// in which all replicas learn of a change and of a write, followers write before they can know.
  struct Backoff {
    Duration first = std::chrono::milliseconds(20);
    double factor = 4.0;
    double jitter = 0.5;
    std::uint32_t steps = 5;
  } backoff{};

  /// Threads that run work, 0 to 256. More than one run different keys in parallel, never one key
  /// twice at once. 0: caller-driven, work runs inside poll().
  std::size_t workers = 1;

  /// Decides the jitter. 0: drawn from the operating system.
  std::uint64_t seed = 0;

  /// Null: system_clock(). Counts every wait and every limit below. Must outlive the lease.
  Clock* clock = nullptr;

  /// How long the destructor waits for work that runs. 0 or more.
  Duration stop_limit = std::chrono::seconds(5);

  /// Told when work, or an observer (key ""), threw; on the thread that ran it. May be empty.
  std::function<void(std::string_view key, std::exception_ptr what)> on_exception{};
};

/// What a writer lease stands at, read in one piece.
struct WriterStatus {
  WriterState state = WriterState::electing;
  Instant expires = kLongAgo;  ///< End of the lease; binds followers only. kLongAgo: expired.
  std::uint32_t tick = 0;      ///< Backoff step of a follower.
  std::size_t pending = 0;     ///< As size().
};

/// Lets one of many replicas do the writing, without a store and without asking anybody: work that
/// succeeds is the renewal; work that conflicts, or that others are seen to do, makes this process
/// stand back. See docs/writer-lease.md for when to use it and when an election instead.
///
///     auto lease = WriterLease::create({.lease = 60s});
///     lease->try_work("node-7", [&] {                        // our view of node-7 has changed
///       return api.put(status) == Conflict ? WorkResult{WorkEffect::release}
///                                          : WorkResult{WorkEffect::extend}; });
///     on_watch([&](auto& key) { lease->extend(key); });      // another replica has written it
///
/// Each key has at most one pending piece of work: the newest. No piece is lost: it ran until it
/// was done, gave way to newer work of its key, was removed, was seen done elsewhere, or still
/// waits.
///
/// Not promised: that only one process writes. Two may write the same now and then (at the start,
/// and when the lease has run out); the write itself must be conditional or harmless. For a single
/// writer use an Election. Nor an order between keys, or between this lease and another.
///
/// Work runs without any lock held: it may call everything here, also for its own key, and may
/// destroy the handle. Moving or destroying it is not safe beside other calls than those inside
/// which that work runs; a moved-from handle may only be assigned.
///
/// In a forked child it does nothing: it is closed, follows, and has no work; the parent's goes on.
/// A child may make its own.
///
/// Where memory runs out inside it, the fatal hook is called and the process ends (set_fatal_hook).
///
/// Thread-safety: all else may be called from any thread at any time, also from inside work.
class WriterLease {
 public:
  /// invalid_argument: names the option, its value and what is accepted. unavailable: no threads or
  /// descriptors left.
  [[nodiscard]] static Result<WriterLease> create(WriterLeaseOptions options = {});

  /// stop(stop_limit); a piece of work that still runs then is abandoned with its thread, and must
  /// not use what is gone by then. Called from inside work, it waits for all others only.
  ~WriterLease();
  WriterLease(WriterLease&&) noexcept;
  WriterLease& operator=(WriterLease&&) noexcept;
  WriterLease(const WriterLease&) = delete;
  WriterLease& operator=(const WriterLease&) = delete;

  /// `work` is the newest for `key`, instead of what waited; if the key runs just now, it runs
  /// after. When it may run depends on the state (see WriterState). Never blocks on work.
  /// invalid_argument: empty work, or a key above 64 KiB. closed: stop() has been called.
  Result<void> try_work(std::string_view key, Work work);

  /// Another writer was seen doing this key's work: it is dropped, and a follower stands back one
  /// step more. What runs just now is not retried. True if there was any; else nothing happens.
  bool extend(std::string_view key);

  /// As extend() of each key, in this order, and several times as fast where there are many keys or
  /// threads: for what a watch or a list tells at once. Up to 64 keys are extended at one instant,
  /// which nothing else comes between. Returns how many had work.
  std::size_t extend_all(std::span<const std::string_view> keys);

  /// Drops the key's work, as extend() does, but says nothing about other writers.
  bool remove(std::string_view key);

  /// Ends the lease at once, whoever has it; the state stays. A follower's work, retries included,
  /// is due now: one piece probes, the rest follow its result.
  void expire();

  /// Keys that have work, waiting or running.
  [[nodiscard]] std::size_t size() const;

  /// Blocks until the first result other than none has decided who writes, and says whether this
  /// process leads now. closed: stopped before. unsupported: called from inside work.
  /// Caller-driven: runs work meanwhile.
  [[nodiscard]] Result<bool> wait();

  /// As wait(), for at most `limit`, by the lease's clock: timed_out after that.
  [[nodiscard]] Result<bool> wait_until(Duration limit);

  /// Lock-free: as of the last result.
  [[nodiscard]] WriterState state() const noexcept;
  [[nodiscard]] WriterStatus status() const;
  [[nodiscard]] WriterCounters counters() const;

  /// `observer` is told each change of state, in order, one at a time: return soon. With one
  /// worker, or one caller of poll(), on the thread whose work made the change, before it runs
  /// anything else. With more, on any thread of theirs: a change that comes while the observer is
  /// being told another is told by that thread next, and work may run meanwhile. Replaces the
  /// former one; empty takes it away. One that is being called may be called to its end after this
  /// returned.
  void on_state_change(std::function<void(WriterState)> observer);

  /// Ends it: no work starts any more, what waited is dropped (counted as abandoned), and all
  /// threads end. Returns when they have, or after `limit` by the lease's clock: timed_out if work
  /// still runs then. The destructors of what is dropped run inside it, whatever time they take.
  /// May be called twice, from any thread. From inside work, an observer, or the destructor of what
  /// work has captured, it waits for all work that runs elsewhere; the caller's own thread ends
  /// when its work does. No work runs after it returned without an error, but the pieces inside
  /// which it was called, and those that are in stop() themselves.
  Result<void> stop(Duration limit);

  /// Caller-driven only: a descriptor that is readable when poll() has something to do; else -1.
  [[nodiscard]] int fd() const noexcept;

  /// Caller-driven only: runs what is due and returns how many pieces that were; a piece that comes
  /// due meanwhile may be left for the next call. With workers: 0.
  std::size_t poll();

  /// When the next piece comes due without anything new: kLongAgo for now, kNever for none.
  [[nodiscard]] Instant next_due() const;

 private:
  explicit WriterLease(std::shared_ptr<runtime::WriterLeaseEngine> engine) noexcept;
  std::shared_ptr<runtime::WriterLeaseEngine> engine_;
};

}  // namespace tenure
