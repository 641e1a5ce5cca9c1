// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/election/election.h"
#include "tests/core/election/effect_judge.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenure::core {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Instant at(Duration since_boot) { return Instant(since_boot); }

inline Record record_of(std::string session, std::uint64_t revision, std::string id = {},
                        Duration ttl = seconds(15)) {
  Record record;
  record.election = "billing";
  record.id = id.empty() ? session : std::move(id);
  record.session = std::move(session);
  record.revision = revision;
  record.token = revision;
  record.ttl = ttl;
  return record;
}

/// One machine, a clock that stands still until it is moved, and a record of all that the machine
/// asked for. The settings are the defaults (ttl 15 s, grace 3 s, renewal each 5 s, request limit
/// 3 s) without drift, so that instants are round numbers. A judge reads every effect.
class MachineWorld {
 public:
  struct Setup {
    ElectionOptions options = plain_options();
    bool tracks_work = false;
    ExpiryBy expiry = ExpiryBy::store;
    bool has_queue = false;
    Duration phase{};
    std::uint64_t seed = 1;
  };

  static ElectionOptions plain_options() {
    ElectionOptions options;
    options.name = "billing";
    options.id = "A";
    options.drift = 0;
    return options;
  }

  MachineWorld() : MachineWorld(Setup{}) {}
  explicit MachineWorld(Setup setup)
      : judge(setup.tracks_work), machine(config_of(std::move(setup))) {}
  ~MachineWorld() { EXPECT_EQ(judge.faults(), ""); }
  MachineWorld(const MachineWorld&) = delete;
  MachineWorld& operator=(const MachineWorld&) = delete;

  // --- time ---

  /// Lets the machine's own timers fire on time up to `when`.
  void run_to(Instant when) {
    Instant last = kLongAgo;
    int at_once = 0;
    while (machine.next_deadline() <= when) {
      const Instant due = std::max(now, machine.next_deadline());
      at_once = due == last ? at_once + 1 : 0;
      ASSERT_LT(at_once, 20) << "the machine spins";
      last = now = due;
      machine.tick(now);
      collect();
    }
    now = std::max(now, when);
  }
  void run_to(Duration since_boot) { run_to(at(since_boot)); }
  void run_for(Duration span) { run_to(now + span); }
  /// Lets the timers fire until the machine asks for one more of this kind.
  template <class Kind>
  void run_until() {
    const int before = count<Kind>();
    for (int step = 0; count<Kind>() == before; ++step) {
      ASSERT_LT(step, 1000) << "it never comes";
      ASSERT_NE(machine.next_deadline(), kNever) << "nothing will ever come";
      run_to(machine.next_deadline());
    }
  }
  /// The machine was not run at all meanwhile (a suspended or stopped process).
  void sleep_to(Duration since_boot) { now = at(since_boot); }

  // --- inputs ---

  void start() {
    input([&] { machine.start(now); });
  }
  void yield() {
    input([&] { machine.yield(now); });
  }
  void tick() {
    input([&] { machine.tick(now); });
  }
  void stop(Duration limit) {
    input([&] { machine.stop(now, now + limit); });
  }
  void work_ended() {
    judge.work_ended();
    input([&] { machine.work_ended(now); });
  }
  void acquire(const Result<AcquireReply>& reply) {
    input([&] { machine.on_acquire(request, reply, now); });
  }
  /// The store grants our record; by the request in flight, unless it is said when it was sent.
  void granted(std::uint64_t revision, std::optional<Instant> sent = {},
               Duration ttl = seconds(15)) {
    acquire(AcquireReply{true, ours(revision, ttl), sent.value_or(sent_at), false});
  }
  void held_by(const Record& holder, bool in_line = false) {
    acquire(AcquireReply{false, holder, kLongAgo, in_line});
  }
  void held_by(const std::string& session, std::uint64_t revision) {
    held_by(record_of(session, revision));
  }
  void acquire_fails(Errc code) { acquire(fail(code, "acquire: " + std::string(to_string(code)))); }
  void renew(const Result<RenewReply>& reply) {
    input([&] { machine.on_renew(request, reply, now); });
  }
  void renewed(Duration ttl = seconds(15)) { renew(RenewReply{true, ttl, sent_at, {}}); }
  void renew_gone(std::optional<Record> holder = {}) {
    renew(RenewReply{false, {}, sent_at, std::move(holder)});
  }
  void renew_fails(Errc code) { renew(fail(code, "renew: " + std::string(to_string(code)))); }
  void released(bool was_there = true) {
    input([&] { machine.on_release(request, ReleaseReply{was_there}, now); });
  }
  void release_fails(Errc code) {
    input([&] { machine.on_release(request, fail(code, "release failed"), now); });
  }
  void sees(std::optional<Record> holder, std::uint64_t as_of, bool in_line = true) {
    const ElectionState state{"billing", std::move(holder), as_of, in_line};
    input([&] { machine.on_watch(watch, state, now); });
  }
  void watch_fails(Errc code) {
    input([&] { machine.on_watch(watch, fail(code, "watch failed"), now); });
  }

  /// From the start to a term with this revision, bought by a request sent now.
  void lead(std::uint64_t revision = 7) {
    start();
    granted(revision);
    ASSERT_EQ(machine.phase(), Phase::leading);
  }

  // --- what came of it ---

  [[nodiscard]] Record ours(std::uint64_t revision, Duration ttl = seconds(15)) const {
    return record_of("session-a", revision, "A", ttl);
  }
  /// How many effects of this kind there were since forget().
  template <class Kind>
  [[nodiscard]] int count() const {
    int found = 0;
    for (const Effect& effect : effects) found += std::holds_alternative<Kind>(effect) ? 1 : 0;
    return found;
  }
  /// The newest of this kind; a default one and a failure if there is none.
  template <class Kind>
  [[nodiscard]] Kind last() const {
    for (auto it = effects.rbegin(); it != effects.rend(); ++it) {
      if (const auto* one = std::get_if<Kind>(&*it)) return *one;
    }
    ADD_FAILURE() << "no such effect";
    return {};
  }
  /// Where the first of this kind stands among the effects; -1: nowhere.
  template <class Kind>
  [[nodiscard]] int place() const {
    for (std::size_t i = 0; i < effects.size(); ++i) {
      if (std::holds_alternative<Kind>(effects[i])) return static_cast<int>(i);
    }
    return -1;
  }
  void forget() { effects.clear(); }
  [[nodiscard]] bool held() const { return judge.held(now); }
  [[nodiscard]] Phase phase() const { return machine.phase(); }
  [[nodiscard]] std::string losses() const {
    std::string text;
    for (const LossReason reason : judge.losses()) {
      text += (text.empty() ? "" : " ") + std::string(to_string(reason));
    }
    return text;
  }

  Instant now = at(hours(1));
  EffectJudge judge;
  ElectionMachine machine;
  Effects effects;
  std::vector<std::pair<Instant, Effect>> log;
  Generation request = 0;      ///< Of the newest request.
  Instant sent_at = kLongAgo;  ///< When that was sent.
  Generation watch = 0;

 private:
  static ElectionConfig config_of(Setup setup) {
    const Result<Timing> timing = validate(setup.options);
    EXPECT_TRUE(timing) << timing.error().message;
    return {std::move(setup.options),
            timing.value_or(Timing{seconds(15), {}, {}, {}, 0}),
            "session-a",
            setup.expiry,
            setup.has_queue,
            setup.tracks_work,
            setup.phase,
            setup.seed};
  }

  template <class Input>
  void input(Input give) {
    give();
    collect();
  }
  void collect() {
    const Effects fresh = machine.take_effects();
    judge.read(fresh, now);
    for (const Effect& effect : fresh) {
      const auto note = [this](Generation generation) {
        request = generation;
        sent_at = now;
      };
      std::visit(
          Overloaded{[&](const SendAcquire& one) { note(one.generation); },
                     [&](const SendRenew& one) { note(one.generation); },
                     [&](const SendRelease& one) { note(one.generation); },
                     [&](const OpenWatch& one) { watch = one.generation; }, [](const auto&) {}},
          effect);
      effects.push_back(effect);
      log.emplace_back(now, effect);
    }
  }
};

/// World W with work that must end before a term is released.
inline MachineWorld::Setup with_work() {
  MachineWorld::Setup setup;
  setup.tracks_work = true;
  return setup;
}

}  // namespace tenure::core
