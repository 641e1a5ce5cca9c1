// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/lease/core.h"
#include "runtime/writer_lease_inbox.h"
#include "runtime/writer_lease_lock.h"
#include "runtime/writer_lease_signal.h"
#include "runtime/writer_lease_thread.h"

#include <tenure/leadership.h>
#include <tenure/writer_lease.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace tenure::runtime {

/// Drives one writer lease: who is inside the machine, which threads run its work, who is woken.
///
/// Whoever holds lock_ is inside, and on the way out does what others have left in the inbox
/// meanwhile. So a producer that finds the lock taken leaves its work and goes on; the machine's
/// memory stays on the processor that is inside. In detail:
///   - a producer that left something looks at the lock after it; who leaves the lock looks at the
///     inbox after that. One of the two sees the other.
///   - a producer goes in itself only when nobody has been inside since a producer left last, which
///     says that the workers sleep or run long work.
/// Work is run, and destroyed, outside the lock. Workers sleep in poll(2) on a signal, a timer of
/// the lease's clock, and the end.
///
/// In a forked child all of it is the parent's, its descriptors too: nothing may be called there
/// but in_forked_child().
class WriterLeaseEngine : public std::enable_shared_from_this<WriterLeaseEngine> {
 public:
  WriterLeaseEngine(const WriterLeaseOptions& options, std::uint64_t seed);
  ~WriterLeaseEngine();
  WriterLeaseEngine(const WriterLeaseEngine&) = delete;
  WriterLeaseEngine& operator=(const WriterLeaseEngine&) = delete;

  [[nodiscard]] Result<void> start();
  [[nodiscard]] bool in_forked_child() const noexcept { return *in_parent_ == 0; }
  /// As stop(), in real time, and gives up threads whose work does not end.
  void end() noexcept;

  Result<void> try_work(std::string_view key, Work work);
  bool extend(std::string_view key);
  std::size_t extend_all(std::span<const std::string_view> keys);
  bool remove(std::string_view key);
  void expire();
  Result<bool> wait(Duration limit);
  Result<void> stop(Duration limit) { return stop_by(clock_, limit); }
  void on_state_change(std::function<void(WriterState)> observer);
  std::size_t poll();

  [[nodiscard]] std::size_t size();
  [[nodiscard]] WriterState state() const noexcept { return state_.load(); }
  [[nodiscard]] WriterStatus status();
  [[nodiscard]] WriterCounters counters();
  [[nodiscard]] Instant next_due();
  [[nodiscard]] int fd() const noexcept { return caller_fd_.get(); }

 private:
  struct Waiter;
  using Observer = std::shared_ptr<std::function<void(WriterState)>>;

  // The inside (writer_lease_engine.cc).
  void enter();
  enum class Leaving { caller, worker };
  LeaseLock::Word leave(Leaving who = Leaving::caller);
  void drain(std::uint32_t most);
  // So much to do that a worker need not look for more.
  [[nodiscard]] bool has_plenty() const noexcept { return core_.size() > kPlenty; }
  [[nodiscard]] std::size_t extend_batch(std::span<const std::string_view> keys);
  void see_to_inbox();
  void make_room();
  void drain_all();
  void abandon_into_garbage();
  [[nodiscard]] Instant at(Instant now) noexcept { return latest_ = std::max(latest_, now); }
  [[nodiscard]] Instant time_if_following();
  void wake_if_due();
  void ring();
  void arm(Instant due);
  void tell_waiters();
  [[nodiscard]] bool caller_driven() const noexcept { return options_.workers == 0; }

  // Running work (writer_lease_run.cc).
  void serve();
  bool run_next(OnThread& mark, Instant& now);
  WorkResult call(core::LeaseCore::Job& job);
  void complete(core::LeaseCore::Job job, WorkResult result, Instant now);
  void tell_observer();
  void report(std::string_view key);
  bool spin(int& budget);
  void wait_for_work();
  void note_woken() noexcept;
  // Nothing may be run any more.
  [[nodiscard]] bool is_over() const noexcept {
    return ended_.load(std::memory_order_relaxed) || in_forked_child();
  }

  // Waiting and ending (writer_lease_wait.cc).
  template <class Done>
  Result<void> wait_for(Clock& clock, Duration limit, bool drive, Done done);
  Result<void> stop_by(Clock& clock, Duration limit);
  void abandon_all();

  static constexpr std::size_t kPlenty = 64;
  static constexpr std::size_t kBatch = 64;  ///< So many keys are extended in one visit inside.

  const WriterLeaseOptions options_;
  const volatile unsigned char* const in_parent_ = detail::fork_guard();
  Clock& clock_;
  Signal bell_;  ///< One for each sleeper that is to wake.
  Signal end_;   ///< Raised for good when it ends.
  std::unique_ptr<Timer> timer_;
  OwnedFd caller_fd_;
  std::atomic<WriterState> state_{WriterState::electing};
  std::atomic<bool> ended_{false};
  std::atomic<LeaseLock::Word> calm_{0};  ///< The lock's word as a producer left it last.

  LeaseInbox inbox_;
  alignas(64) LeaseLock lock_;

  // Of whoever holds lock_.
  core::LeaseCore core_;
  std::vector<Work> garbage_;  ///< To be destroyed outside.
  std::vector<Waiter*> waiters_;
  std::deque<WriterState> changes_;  ///< Not told yet.
  Observer observer_;
  Instant latest_ = kLongAgo;  ///< What the machine was told last: its time must not go back.
  Instant armed_ = kNever;
  std::size_t threads_alive_ = 0;  ///< Workers, and callers that are in poll().
  std::size_t sleepers_ = 0;
  std::size_t rung_ = 0;     ///< Sleepers that have been woken and are not up yet.
  std::size_t running_ = 0;  ///< Pieces of work.
  std::size_t excused_ = 0;  ///< Of those, on threads that are themselves in stop().
  std::uint64_t threw_ = 0;
  bool spinning_ = false;
  bool telling_ = false;

  std::mutex threads_mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace tenure::runtime
