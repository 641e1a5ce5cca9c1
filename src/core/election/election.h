// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/election/effects.h"
#include "core/election/outage.h"
#include "core/rng.h"

#include <tenure/events.h>
#include <tenure/options.h>
#include <tenure/store.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tenure::core {

/// What a machine is told once. `timing` comes from validate(options).
struct ElectionConfig {
  ElectionOptions options;
  Timing timing;
  std::string session;  ///< Random, unique to this machine.
  ExpiryBy expiry = ExpiryBy::store;
  bool has_queue = false;
  bool tracks_work = false;  ///< A term ends only when work_ended() was called for it.
  Duration renew_phase{};    ///< Shifts the grid on which renewals of one process fall together.
  std::uint64_t seed = 0;
};

/// One candidate as a pure state machine: inputs and the time go in, effects come out.
///
///   idle -> standing <-> leading -> stepping_down -> standing | pausing -> standing
///   any -> stopped
///
/// Invariants (checked at each input):
///  - at most one request is in flight, and only its generation is listened to;
///  - a term exists (BeginTerm without EndTerm) only while mine_ is set, and its deadline is
///    sent_at + granted ttl x (1 - drift) of an answered request, never later, and shorter where
///    the newest answer grants less;
///  - EndTerm precedes the SendRelease of its record; no SendRelease before the work has ended;
///  - no BeginTerm before the work of the former term has ended, nor with a revision not above the
///    former term's.
///
/// Every input first lets time pass (settle): an answer that arrives after a deadline cannot undo
/// what the deadline did. Not thread-safe; one driver owns it.
class ElectionMachine {
 public:
  explicit ElectionMachine(ElectionConfig config);

  void start(Instant now);
  void yield(Instant now);
  /// Ends in order; at `limit` it ends in any case.
  void stop(Instant now, Instant limit);
  /// The work of the present (or last) term has ended.
  void work_ended(Instant now);
  void on_acquire(Generation generation, const Result<AcquireReply>& reply, Instant now);
  void on_renew(Generation generation, const Result<RenewReply>& reply, Instant now);
  void on_release(Generation generation, const Result<ReleaseReply>& reply, Instant now);
  void on_watch(Generation generation, const Result<ElectionState>& state, Instant now);
  /// Lets time pass; call it when next_deadline() has come (earlier does no harm).
  void tick(Instant now);

  /// When tick() is due next. One timer serves the whole machine.
  [[nodiscard]] Instant next_deadline() const noexcept;
  /// What to do now, in order; empties the list.
  [[nodiscard]] Effects take_effects();

  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] const std::string& holder() const noexcept { return holder_; }
  [[nodiscard]] const Timing& timing() const noexcept { return timing_; }
  [[nodiscard]] const std::string& session() const noexcept { return config_.session; }

 private:
  enum class Request { none, acquire, renew, release };

  // The record we believe to own, and the term that rests on it.
  struct Term {
    Instant deadline = kLongAgo;   // held() is true before this
    Instant step_down = kLongAgo;  // grace before it
    bool told = false;             // the work was asked to stop
  };

  // election.cc: inputs, the passing of time, invariants
  void settle(Instant now);
  void settle_request(Instant now);
  void settle_watch(Instant now);
  void check_invariants() const;

  // requests.cc: what is asked of the store, and how its answers are told apart
  void send_acquire(Instant now);
  void send_renew(Instant now);
  void send_release(Instant now);
  void open_watch(Instant now);
  void watch_failed(const Error& error, Instant now);
  [[nodiscard]] bool answered(Generation generation, Request kind);
  void note_failure(const Error& error, Instant now);
  void note_success();
  void note_holder(const std::optional<Record>& holder);
  [[nodiscard]] Duration backoff(std::uint32_t& failures);

  // standing.cc: the way to a term
  void stand(Instant now);
  void settle_standing(Instant now);
  void give_up(Error error, Instant now);
  void acquired(const AcquireReply& reply, Instant now);
  void refuse_stale(const Record& record, Instant now);
  void acquire_failed(const Error& error, Instant now);
  void held_by_other(const AcquireReply& reply, Instant now);
  void standing_sees(const ElectionState& state, Instant now);
  void observe(const Record& holder, Instant now);
  void try_soon(Instant now);
  [[nodiscard]] bool another_leads(const ElectionState& state) const noexcept;
  [[nodiscard]] Instant give_up_at() const noexcept;

  // leading.cc: keeping a term, and losing it
  void grant(Instant sent_at, Duration ttl, Instant now);
  void announce_if_fresh(Instant now);
  void renewed(const RenewReply& reply, Instant now);
  void renew_failed(const Error& error, Instant now);
  void settle_leading(Instant now);
  void record_gone(const std::optional<Record>& holder, Instant now);
  void own_record_sees(const ElectionState& state, Instant now);
  [[nodiscard]] bool wants_renewal() const noexcept;
  [[nodiscard]] LossReason starved() const noexcept;

  // ending.cc: giving a term up, and what comes after it
  void step_down(LossReason reason, std::string detail, Instant now);
  void end_term(LossReason reason, std::string detail);
  void settle_ending(Instant now);
  void work_overran();
  void after_work(Instant now);
  void released(const Result<ReleaseReply>& reply, Instant now);
  void after_term(Instant now);
  void stop_standing(Instant now);
  void finish(std::optional<Error> error);

  const ElectionConfig config_;
  Timing timing_;
  Rng rng_;
  Outage outage_;
  Effects effects_;
  Phase phase_ = Phase::idle;

  // requests
  Generation generation_ = 0;
  Request request_ = Request::none;
  Instant request_limit_ = kNever;
  Instant request_sent_ = kLongAgo;
  std::uint32_t failures_ = 0;

  // watch
  Generation watch_generation_ = 0;
  bool watching_ = false;
  Instant watch_opened_at_ = kLongAgo;
  Instant watch_retry_at_ = kNever;
  std::uint32_t watch_failures_ = 0;
  Outage watch_outage_;
  std::uint64_t seen_as_of_ = 0;

  // standing
  Instant standing_since_ = kLongAgo;
  Instant try_at_ = kNever;
  bool tried_ = false;      // one acquire was answered since we began to stand
  bool uncertain_ = false;  // an acquire may have taken effect unseen
  bool strays_ = false;     // ... or may still, however late: lost requests are never sure
  std::uint32_t stale_grants_ = 0;
  bool vacancy_seen_ = false;  // while an acquire was in flight
  bool in_line_ = false;
  std::optional<Record> observed_;
  Instant observed_ends_ = kNever;
  Instant pause_until_ = kNever;

  // the record and the term
  std::optional<Record> mine_;
  std::optional<Term> term_;
  Instant record_until_ = kLongAgo;  // nobody else can hold before this
  Instant renew_at_ = kNever;
  std::optional<Error> renew_error_;
  std::uint64_t last_revision_ = 0;  // of the newest term that began
  std::uint64_t last_token_ = 0;

  // ending
  LossReason reason_ = LossReason::expired;
  bool work_running_ = false;
  bool abandoned_ = false;  // the work outlasted its bound: the record is left to lapse
  Instant work_limit_ = kNever;
  std::optional<std::uint64_t> to_release_;  // the incarnation; 0: whatever our session has
  Instant release_at_ = kNever;
  bool stopping_ = false;
  Instant stop_limit_ = kNever;
  std::optional<Error> gave_up_;

  std::string holder_;
  std::uint64_t holder_token_ = 0;
};

}  // namespace tenure::core
