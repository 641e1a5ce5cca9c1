// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>
#include <tenure/store.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace tenure::testkit {

/// The verbs of a store, to say which requests a fault is meant for.
enum class Verb { acquire, renew, release, watch, list };

/// What goes wrong with one request. Make one by the functions below.
struct Fault {
  enum class Kind {
    none,            ///< Nothing: the request passes.
    fail,            ///< Never reaches the store; answered with `error`.
    lose_answer,     ///< Carried out; answered with `error`.
    hold_answer,     ///< Carried out; the answer waits for deliver_answers(), limit or not.
    hold_request,    ///< Waits for deliver_requests(); at its limit it is given up, unavailable.
    swallow_answer,  ///< Carried out; answered with outcome_unknown at its limit.
    black_hole,      ///< Never reaches the store and is never answered, whatever its limit says.
  };
  Kind kind = Kind::none;
  Error error{};
};

/// Never reaches the store: `fail_with({Errc::unavailable, "no route to host"})`.
[[nodiscard]] Fault fail_with(Error error);
/// Takes effect, but the caller is told outcome_unknown.
[[nodiscard]] Fault lose_answer();
/// Any fault that has no error of its own.
[[nodiscard]] Fault fault(Fault::Kind kind);

/// Wraps a store and does to it what networks and servers do, one request at a time and only as the
/// test says:
///
///     FaultStore store(make_memory_store(backend, executor), executor);
///     store.next(Verb::acquire, lose_answer());
///     store.always(Verb::renew, fail_with({Errc::unavailable, "down"}));
///     ...
///     store.clear(Verb::renew);
///     EXPECT_EQ(store.requests(Verb::renew), 3U);
///
/// A watch that meets a fault without an error is accepted and says nothing until cut_watches().
///
/// Without faults it changes nothing: the conformance suite passes through it. Deleting a record
/// or putting a rival's in its place is the backend's business: MemoryBackend::force_delete() and
/// force_takeover().
///
/// A held request or answer, and everything in a black hole, is dropped when the FaultStore is
/// destroyed; close() answers what is held with Errc::closed first, black holes excepted.
///
/// Thread-safety: as LeaseStore; the functions that script faults too belong on the loop.
class FaultStore final : public LeaseStore {
 public:
  /// `executor` is the one that `inner` runs on and must outlive this.
  FaultStore(std::shared_ptr<LeaseStore> inner, Executor& executor);
  ~FaultStore() override;

  FaultStore(const FaultStore&) = delete;
  FaultStore& operator=(const FaultStore&) = delete;

  /// The next `times` requests of `verb` meet `fault`, after those scripted before.
  void next(Verb verb, Fault fault, std::size_t times = 1);

  /// Every request of `verb` that nothing is scripted for meets `fault`, until clear().
  void always(Verb verb, Fault fault);

  /// As always(), for every verb: a partition.
  void always(Fault fault);

  /// Forgets what is scripted for `verb`. What is held stays held.
  void clear(Verb verb);

  /// Forgets all that is scripted.
  void clear();

  /// Lets held requests reach the store, in order. They meet no second fault.
  void deliver_requests();

  /// Lets held answers reach their callers, in order.
  void deliver_answers();

  /// How many requests or answers are held now.
  [[nodiscard]] std::size_t held_requests() const noexcept;
  [[nodiscard]] std::size_t held_answers() const noexcept;

  /// Ends every running watch with `error`.
  void cut_watches(Error error);

  /// True: updates of watches wait; false: they are given, each of them, in order.
  void hold_watches(bool hold);

  /// How many requests of `verb` were made, whatever became of them.
  [[nodiscard]] std::size_t requests(Verb verb) const noexcept;

  [[nodiscard]] const StoreTraits& traits() const noexcept override;
  void acquire(AcquireRequest request, Completion<AcquireReply> done) override;
  void renew(RenewRequest request, Completion<RenewReply> done) override;
  void release(ReleaseRequest request, Completion<ReleaseReply> done) override;
  [[nodiscard]] std::unique_ptr<Watch> watch(
      WatchRequest request, std::function<void(Result<ElectionState>)> on_state) override;
  void list(ListRequest request, Completion<std::vector<ElectionState>> done) override;
  void close(std::function<void()> done) override;
  [[nodiscard]] int inherited_fd() const noexcept override;

  struct State;  ///< Of the implementation.

 private:
  std::shared_ptr<State> state_;
};

}  // namespace tenure::testkit
