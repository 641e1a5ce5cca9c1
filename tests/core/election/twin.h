// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/election/effects.h"

#include <tenure/events.h>
#include <tenure/options.h>

#include <optional>
#include <vector>

namespace tenure::core {

/// What a user can see of one candidate, worked out from the rules alone (design: rules of time,
/// why two never lead, the contract of a store) and in the plainest way. It does not decide when to
/// ask for what: it reads which requests were sent, and says what must follow from their answers.
/// For stores that keep their contract; expiry by the store, no queue.
class ElectionTwin {
 public:
  ElectionTwin(Timing asked, bool tracks_work) : asked_(asked), tracks_work_(tracks_work) {}

  // --- what a user sees ---
  Phase phase = Phase::idle;
  std::optional<Instant> deadline;  // of the present term
  std::vector<LossReason> losses;
  std::uint64_t begun = 0;  // the token of the newest term

  // --- the requests of the machine, as they are sent ---
  enum class Asked { nothing, acquire, renew, release };
  void asked(Asked what, Instant limit) {
    in_flight_ = what;
    limit_ = limit;
  }
  void paused_until(Instant until) { pause_ends_ = until; }

  // --- inputs ---
  void start() {
    if (phase == Phase::idle) phase = Phase::standing;
  }

  void time(Instant now) {
    if (deadline && !told_ && now >= *deadline - grace_) {
      told_ = true;
      phase = Phase::stepping_down;
      reason_ = denied_ ? LossReason::unauthorized : LossReason::expired;
    }
    if (deadline && now >= *deadline) {
      lose(reason_);
      // The record's time has run out under work that was told a grace ago.
      if (working_) let_lapse();
    }
    if (in_flight_ != Asked::nothing && now >= limit_) {
      const Asked what = in_flight_;
      in_flight_ = Asked::nothing;
      if (what == Asked::acquire) doubt_ = true;
      if (what == Asked::renew) renewal_failed(Errc::outcome_unknown);
      if (what == Asked::release) release_failed(now);
    }
    if (phase == Phase::stepping_down && !deadline && working_ && now >= work_limit_) let_lapse();
    if (phase == Phase::pausing && now >= pause_ends_) phase = Phase::standing;
  }

  void acquired(const Record& record, Instant sent, Instant now) {
    if (!take(Asked::acquire)) return;
    if (record.revision <= last_revision_) return;  // left over: it will be released first
    record_ = record;
    valid_ = kLongAgo;
    if (doubt_ || seen_ours_) return;  // a renewal must prove it
    grant(sent, record.ttl, now);
    maybe_begin(now);
  }
  void acquire_failed(Errc code) {
    if (take(Asked::acquire) && (code == Errc::outcome_unknown || code == Errc::timed_out)) {
      doubt_ = true;
    }
  }
  void held_by_other() { (void)take(Asked::acquire); }

  void renewed(Duration ttl, Instant sent, Instant now) {
    if (!take(Asked::renew) || !record_) return;
    denied_ = false;
    grant(sent, ttl, now);
    if (phase == Phase::standing) {
      maybe_begin(now);
    } else if (deadline && (!told_ || valid_ < *deadline)) {
      deadline = valid_;
    }
  }
  void renewal_failed_with(Errc code) {
    if (take(Asked::renew)) renewal_failed(code);
  }
  void gone(bool other, Instant now) {
    if (take(Asked::renew)) record_is_gone(other, now);
  }
  void release_answered(bool answered, Instant now) {
    if (!take(Asked::release)) return;
    if (answered) {
      over(now);
    } else {
      release_failed(now);
    }
  }
  void sees(const std::optional<Record>& holder, std::uint64_t as_of, bool ours, Instant now) {
    if (record_) {
      if (as_of < record_->revision) return;
      if (!ours || holder->revision != record_->revision) record_is_gone(holder && !ours, now);
    } else if (phase == Phase::pausing && holder && !ours && as_of > last_revision_) {
      phase = Phase::standing;
    } else if (phase == Phase::standing && ours) {
      seen_ours_ = true;
    }
  }

  void yield(Instant now) {
    if (phase == Phase::leading) give_up(LossReason::yielded, now);
  }
  void work_ended(Instant now) {
    if (!working_) return;
    working_ = false;
    if (deadline && !told_) {
      give_up(LossReason::yielded, now);
    } else if (phase == Phase::stepping_down) {
      if (deadline) lose(reason_);
      if (!record_) over(now);
    }
  }

 private:
  bool take(Asked what) {
    if (in_flight_ != what) return false;
    in_flight_ = Asked::nothing;
    return true;
  }
  void grant(Instant sent, Duration ttl, Instant now) {
    const double trusted = static_cast<double>(ttl.count()) * (1 - asked_.drift);
    const Instant until = std::min(sent, now) + Duration(static_cast<Duration::rep>(trusted));
    valid_ = ttl < record_->ttl ? until : std::max(valid_, until);
    record_->ttl = ttl;
    const double share = static_cast<double>(ttl.count()) / static_cast<double>(asked_.ttl.count());
    grace_ = share < 1 ? Duration(static_cast<Duration::rep>(
                             static_cast<double>(asked_.grace.count()) * share))
                       : asked_.grace;
  }
  void maybe_begin(Instant now) {
    if (now >= valid_ - grace_) return;
    phase = Phase::leading;
    deadline = valid_;
    begun = record_->token;
    last_revision_ = record_->revision;
    seen_ours_ = told_ = denied_ = false;
    working_ = tracks_work_;
  }
  void renewal_failed(Errc code) {
    if (phase == Phase::standing) {
      record_.reset();
      seen_ours_ = true;
      return;
    }
    denied_ = code == Errc::permission_denied || code == Errc::unauthenticated;
  }
  void lose(LossReason reason) {
    losses.push_back(reason);
    reason_ = reason;
    deadline.reset();
    phase = Phase::stepping_down;
  }
  // Work that outlasts its bound: the record is not renewed any more, not even by an old request.
  void let_lapse() {
    work_limit_ = kNever;
    if (in_flight_ == Asked::renew) in_flight_ = Asked::nothing;
  }
  void give_up(LossReason reason, Instant now) {
    work_limit_ = std::min(now + grace_, *deadline);
    lose(reason);
  }
  void record_is_gone(bool other, Instant now) {
    if (deadline) {
      work_limit_ = told_ ? *deadline : now + grace_;
      lose(other ? LossReason::taken_over : LossReason::deleted);
    }
    record_.reset();
    if (phase == Phase::stepping_down && !working_) over(now);
  }
  void release_failed(Instant now) {
    // Not forgotten before it has lapsed by itself.
    if (phase == Phase::stepping_down && now >= valid_) over(now);
  }
  void over(Instant /*now*/) {
    if (phase != Phase::stepping_down) return;
    record_.reset();
    in_flight_ = Asked::nothing;
    pause_ends_ = kNever;
    phase = reason_ == LossReason::yielded ? Phase::pausing : Phase::standing;
  }

  Timing asked_;
  bool tracks_work_;
  Asked in_flight_ = Asked::nothing;
  Instant limit_ = kNever;
  bool doubt_ = false;  // a lost acquire may take effect at any time
  bool seen_ours_ = false;
  std::optional<Record> record_;
  Instant valid_ = kLongAgo;
  Duration grace_{};
  bool told_ = false;
  bool denied_ = false;
  bool working_ = false;
  Instant work_limit_ = kNever;
  Instant pause_ends_ = kNever;
  LossReason reason_ = LossReason::expired;
  std::uint64_t last_revision_ = 0;
};

}  // namespace tenure::core
