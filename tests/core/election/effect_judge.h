// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/election/effects.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tenure::core {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

/// Knows what a machine may ask for and in which order, and nothing of how it decides: it reads the
/// effects and says what broke a rule. Also what held() would answer to a user.
class EffectJudge {
 public:
  explicit EffectJudge(bool tracks_work) : tracks_work_(tracks_work) {}

  void read(const Effects& effects, Instant now) {
    for (const Effect& effect : effects) {
      if (finished_) say("an effect follows the Finish");
      std::visit([this, now](const auto& one) { judge(one, now); }, effect);
    }
  }
  void work_ended() { working_ = false; }

  /// What broke a rule so far; empty if nothing did.
  [[nodiscard]] const std::string& faults() const { return faults_; }
  [[nodiscard]] bool held(Instant now) const { return term_ && now < deadline_; }
  [[nodiscard]] bool in_term() const { return term_; }
  [[nodiscard]] bool working() const { return working_; }
  [[nodiscard]] bool told() const { return told_; }
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] Instant deadline() const { return deadline_; }
  [[nodiscard]] std::uint64_t token() const { return token_; }
  [[nodiscard]] int terms() const { return terms_; }
  [[nodiscard]] int requests() const { return requests_; }
  [[nodiscard]] int watches() const { return watches_; }
  [[nodiscard]] int reports() const { return reports_; }
  [[nodiscard]] const std::vector<LossReason>& losses() const { return losses_; }

 private:
  void say(const std::string& fault) {
    if (faults_.size() < 2000) faults_ += fault + "\n";
  }
  void require(bool holds, const char* rule) {
    if (!holds) say(rule);
  }

  void sent(Generation generation, Instant limit, Instant now) {
    require(generation > generation_, "a request has a number that is not new");
    require(limit > now, "a request has no time to be answered");
    generation_ = generation;
    ++requests_;
  }
  void judge(const SendAcquire& one, Instant now) {
    sent(one.generation, one.limit, now);
    require(!term_, "acquire while a term goes on");
    require(!working_, "acquire while the work of the last term goes on");
  }
  void judge(const SendRenew& one, Instant now) { sent(one.generation, one.limit, now); }
  void judge(const SendRelease& one, Instant now) {
    // It may be as short as the stop that it serves: best effort.
    sent(one.generation, kNever, now);
    require(!term_, "release while held() is true");
    require(!working_, "release before the work has ended");
  }
  void judge(const OpenWatch& one, Instant /*now*/) {
    require(one.generation > watch_, "a watch has a number that is not new");
    require(!watching_, "a second watch is opened");
    watch_ = one.generation;
    watching_ = true;
    ++watches_;
  }
  void judge(const CloseWatch& /*one*/, Instant /*now*/) { watching_ = false; }
  void judge(const BeginTerm& one, Instant now) {
    require(!term_, "Elected twice without a Lost between");
    require(!working_, "a term begins while the work of the last one goes on");
    require(one.token > token_, "a token is not larger than the one before");
    require(one.deadline > now, "a term begins after its deadline");
    term_ = true;
    told_ = false;
    working_ = tracks_work_;
    token_ = one.token;
    deadline_ = one.deadline;
    ++terms_;
  }
  void judge(const MoveDeadline& one, Instant /*now*/) {
    require(term_, "a deadline moves without a term");
    require(!told_ || one.deadline <= deadline_,
            "a term comes back to life after the work was told");
    deadline_ = one.deadline;
  }
  void judge(const TellWork& /*one*/, Instant /*now*/) {
    require(term_, "work is told without a term");
    require(!told_, "work is told twice");
    told_ = true;
  }
  void judge(const EndTerm& one, Instant /*now*/) {
    require(term_, "Lost without Elected");
    require(one.token == token_, "Lost names another term");
    term_ = false;
    losses_.push_back(one.reason);
  }
  void judge(const ReportHolder& /*one*/, Instant /*now*/) {
    require(!term_, "a rival is reported in our own term");
  }
  void judge(const ReportTrouble& /*one*/, Instant /*now*/) { ++reports_; }
  void judge(const Finish& /*one*/, Instant /*now*/) {
    require(!term_, "the end comes while a term goes on");
    require(!watching_, "the end leaves a watch open");
    finished_ = true;
  }
  void judge(const AbortProcess& one, Instant now) {
    // maybe: work that ends after its bound is aborted although it has just ended; what counts is
    // which of the two the machine is told first.
    require(tracks_work_, "abort although there is no work");
    require(one.token == token_, "abort names another term");
    require(!held(now), "abort while the term is held");
  }

  bool tracks_work_;
  bool term_ = false;
  bool told_ = false;
  bool working_ = false;
  bool watching_ = false;
  bool finished_ = false;
  Instant deadline_ = kLongAgo;
  std::uint64_t token_ = 0;
  Generation generation_ = 0;
  Generation watch_ = 0;
  int terms_ = 0;
  int requests_ = 0;
  int watches_ = 0;
  int reports_ = 0;
  std::vector<LossReason> losses_;
  std::string faults_;
};

}  // namespace tenure::core
