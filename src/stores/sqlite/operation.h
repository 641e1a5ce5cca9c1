// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/store.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "stores/sqlite/ledger.h"

namespace tenure::sqlite {

/// What a request does to the database.
enum class Effect {
  none,      ///< Reads.
  fleeting,  ///< Writes what may be lost in a power cut.
  durable,   ///< Writes what must not.
  granting,  ///< That, and may make a new holder.
};

/// One request on its way: made and answered on the loop, carried out on a worker.
class Operation {
 public:
  Operation(Effect effect, Instant limit) : effect_(effect), limit_(limit) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  [[nodiscard]] Effect effect() const noexcept { return effect_; }
  [[nodiscard]] Instant limit() const noexcept { return limit_; }

  // On a worker.

  [[nodiscard]] bool is_given_up() const noexcept { return state_ == State::given_up; }
  /// To be called when nothing is left to wait for. False: given up meanwhile, leave it alone.
  [[nodiscard]] bool start() noexcept;
  /// Tries to answer without writing; true if that was possible.
  [[nodiscard]] virtual Result<bool> answer_by_reading(Ledger& ledger) = 0;
  [[nodiscard]] virtual Result<void> carry_out(Ledger& ledger, Instant sent_at) = 0;
  virtual void set_error(const Error& error) = 0;
  /// There is no database: the answer of a request that only reads.
  virtual void set_nothing() = 0;

  // On the loop.

  /// Calls the completion with what was set. Nothing if it was called before.
  virtual void answer() = 0;
  /// Ends it: with `error` if it has not started, else with outcome_unknown.
  void give_up(const Error& error);
  /// As give_up(), but one that has started is left to end, and to be answered then.
  void cancel(const Error& error);

 protected:
  virtual void answer_with(Error error) = 0;

 private:
  enum class State { waiting, started, given_up };
  const Effect effect_;
  const Instant limit_;
  std::atomic<State> state_{State::waiting};
};

/// The requests that wait for a worker, in order.
class OperationQueue {
 public:
  using Batch = std::vector<std::shared_ptr<Operation>>;

  /// True: nobody is on the way to take(); send somebody.
  [[nodiscard]] bool push(std::shared_ptr<Operation> operation);

  /// Requests that can share a transaction, in order; after a put_back() those that only read come
  /// first. More may be left: whoever serves comes again until it is empty.
  [[nodiscard]] Batch take();

  /// Puts requests that could not be carried out back in front.
  void put_back(const Batch& operations);

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<Operation>> waiting_;
  bool is_served_ = false;
  bool has_put_back_ = false;
};

[[nodiscard]] std::shared_ptr<Operation> make_operation(AcquireRequest request,
                                                        Completion<AcquireReply> done);
[[nodiscard]] std::shared_ptr<Operation> make_operation(RenewRequest request,
                                                        Completion<RenewReply> done);
[[nodiscard]] std::shared_ptr<Operation> make_operation(ReleaseRequest request,
                                                        Completion<ReleaseReply> done);
[[nodiscard]] std::shared_ptr<Operation> make_operation(
    ListRequest request, Completion<std::vector<ElectionState>> done);

}  // namespace tenure::sqlite
