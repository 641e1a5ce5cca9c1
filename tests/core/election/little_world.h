// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/election/election.h"
#include "tests/core/election/effect_judge.h"
#include "tests/core/election/little_store.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenure::core {

/// Some machines, one store and true time: clocks that run at different rates, messages that are
/// slow, late beyond every limit, lost on the way there or back, or answered twice; watches that
/// break; processes that stand still, crash, yield, stop; work that ends late. Then the faults
/// stop. Everything follows from one seed. It records what broke a promise.
class LittleWorld {
 public:
  struct Setup {
    std::uint64_t seed = 1;
    ExpiryBy expiry = ExpiryBy::store;
    double drift = 0.05;
    std::int64_t most_ppm = 50'000;  ///< How far a clock may be off its rate, either way.
    bool tracks_work = true;
    Duration faults = std::chrono::seconds(40);
    Duration peace = std::chrono::seconds(15);
  };

  explicit LittleWorld(Setup setup)
      : setup_(setup), rng_(setup.seed), store_(setup.expiry, kTtl, setup.seed + 1) {
    for (std::size_t i = 0; i < 3; ++i) nodes_.push_back(std::make_unique<Node>(i, setup_, rng_));
  }

  void run() {
    for (auto& node : nodes_) start(*node);
    const Instant heal = Instant(setup_.faults);
    const Instant end = heal + setup_.peace;
    after(some({}, kTtl), [this] { disturb(); });
    int at_once = 0;
    while (!queue_.empty() && queue_.begin()->first.first <= end && faults.empty()) {
      at_once = queue_.begin()->first.first == now_ ? at_once + 1 : 0;
      if (at_once > 1000) faults += "time stands still: a machine spins\n";
      now_ = queue_.begin()->first.first;
      const std::function<void()> act = std::move(queue_.begin()->second);
      queue_.erase(queue_.begin());
      act();
      check();
    }
    now_ = end;
    judge_the_end();
  }

  std::string faults;
  int terms = 0;
  int two_leaders = 0;

 private:
  static constexpr Duration kTtl = std::chrono::seconds(1);

  struct Node {
    Node(std::size_t index, const Setup& setup, Rng& rng)
        : name(1, static_cast<char>('A' + index)) {
      const auto most = static_cast<std::uint64_t>(setup.most_ppm);
      ppm = static_cast<std::int64_t>(rng.up_to(2 * most)) - setup.most_ppm;
      // The ends of the range are where the safety margin is used up.
      if (rng.up_to(2) == 0) ppm = rng.up_to(1) == 0 ? setup.most_ppm : -setup.most_ppm;
      offset = static_cast<std::int64_t>(rng.up_to(1'000'000'000'000));
    }
    std::string name;
    std::int64_t ppm = 0;
    std::int64_t offset = 0;
    int incarnation = 0;
    std::unique_ptr<ElectionMachine> machine;
    std::unique_ptr<EffectJudge> judge;
    std::string session;
    std::uint64_t timer = 0;
    Instant armed = kNever;
    std::uint64_t watch = 0;
    std::uint64_t seen = 0;  // of the store, by this watch
    Instant watch_due = kLongAgo;
    Instant wakes = kLongAgo;  // it stands still until then
    bool work_is_ending = false;
    int requests = 0;
  };

  [[nodiscard]] bool at_peace() const { return now_ >= Instant(setup_.faults); }
  bool chance(std::uint64_t one_in) { return !at_peace() && rng_.up_to(one_in - 1) == 0; }
  Duration some(Duration least, Duration most) {
    return least + Duration(static_cast<Duration::rep>(
                       rng_.up_to(static_cast<std::uint64_t>((most - least).count()))));
  }
  Duration delay() {
    if (chance(12)) return some(std::chrono::milliseconds(100), 3 * kTtl);
    return some(std::chrono::microseconds(10), std::chrono::milliseconds(20));
  }
  void after(Duration wait, std::function<void()> act) {
    queue_.emplace(std::pair(now_ + wait, ++order_), std::move(act));
  }

  [[nodiscard]] Instant local(const Node& node) const {
    const std::int64_t t = now_.time_since_epoch().count();
    return Instant(Duration(node.offset + t + t / 1'000'000 * node.ppm +
                            t % 1'000'000 * node.ppm / 1'000'000));
  }
  [[nodiscard]] Duration until(const Node& node, Instant local_due) const {
    const std::int64_t left = (local_due - local(node)).count();
    if (left <= 0) return {};
    return Duration(left / (1'000'000 + node.ppm) * 1'000'000 + 1'000'000);
  }

  // Runs `act` on the node once it does not stand still, if it is still the same process.
  void on_node(Node& node, Duration wait, std::function<void(Node&)> act) {
    after(wait, [this, &node, act = std::move(act), life = node.incarnation] {
      if (life != node.incarnation || !node.machine) return;
      if (now_ < node.wakes) {
        on_node(node, node.wakes - now_, act);
        return;
      }
      act(node);
      carry_out(node);
    });
  }

  void start(Node& node) {
    ElectionOptions options;
    options.name = "billing";
    options.id = "same for all";
    options.ttl = kTtl;
    options.drift = setup_.drift;
    options.retry_max = std::chrono::milliseconds(500);
    ElectionConfig config;
    config.options = options;
    config.timing = *validate(options);
    node.session = config.session = node.name + std::to_string(++node.incarnation);
    config.expiry = setup_.expiry;
    config.tracks_work = setup_.tracks_work;
    config.seed = rng_.next();
    node.machine = std::make_unique<ElectionMachine>(std::move(config));
    node.judge = std::make_unique<EffectJudge>(setup_.tracks_work);
    node.work_is_ending = false;
    node.armed = kNever;
    node.machine->start(local(node));
    carry_out(node);
  }

  void carry_out(Node& node) {
    const Effects effects = node.machine->take_effects();
    node.judge->read(effects, local(node));
    for (const Effect& effect : effects) {
      std::visit(Overloaded{[&](const SendAcquire& one) { send(node, one); },
                            [&](const SendRenew& one) { send(node, one); },
                            [&](const SendRelease& one) { send(node, one); },
                            [&](const OpenWatch& one) { open(node, one.generation); },
                            [&](const CloseWatch&) { node.watch = 0; },
                            [&](const BeginTerm& one) { began(node, one); },
                            [&](const TellWork&) { end_work(node); },
                            [&](const EndTerm&) { end_work(node); },
                            [&](const Finish&) { restart(node); }, [](const auto&) {}},
                 effect);
    }
    arm(node);
  }

  void arm(Node& node) {
    const Instant due = node.machine->next_deadline();
    if (due == node.armed) return;
    node.armed = due;
    const std::uint64_t timer = ++node.timer;
    if (due == kNever) return;
    on_node(node, until(node, due), [this, timer](Node& one) {
      if (timer != one.timer) return;
      one.armed = kNever;
      one.machine->tick(local(one));
    });
  }

  void began(Node& node, const BeginTerm& term) {
    ++terms;
    if (term.token <= last_token_) faults += "a token is not larger than all before\n";
    last_token_ = term.token;
    if (chance(6)) end_work(node);
  }
  void end_work(Node& node) {
    if (!setup_.tracks_work || node.work_is_ending) return;
    node.work_is_ending = true;
    const Duration takes = chance(5) ? some(kTtl / 5, 3 * kTtl) : some({}, kTtl / 6);
    on_node(node, takes, [this](Node& one) {
      one.work_is_ending = false;
      one.judge->work_ended();
      one.machine->work_ended(local(one));
    });
  }
  void restart(Node& node) {
    ++node.incarnation;
    after(some({}, kTtl), [this, &node, life = node.incarnation] {
      if (life == node.incarnation) start(node);
    });
  }

  // A request on its way there and its answer on the way back, and what can happen to either.
  template <class Reply, class Apply, class Take>
  void ask(Node& node, Apply apply, Take take) {
    ++node.requests;
    if (chance(30)) {
      on_node(node, delay(), [take](Node& one) { take(one, fail(Errc::unavailable, "refused")); });
      return;
    }
    if (chance(20)) {  // The connection breaks: the request may still arrive.
      on_node(node, delay(),
              [take](Node& one) { take(one, fail(Errc::outcome_unknown, "broken")); });
    }
    if (chance(15)) return;
    after(delay(), [this, &node, apply, take, life = node.incarnation] {
      const Reply reply = apply();
      tell_watchers();
      if (life != node.incarnation || chance(15)) return;
      on_node(node, delay(), [take, reply](Node& one) { take(one, reply); });
      if (chance(20)) on_node(node, delay(), [take, reply](Node& one) { take(one, reply); });
    });
  }
  void send(Node& node, const SendAcquire& one) {
    ask<AcquireReply>(
        node,
        [this, session = node.session, sent = local(node), judged = one.judged_expired] {
          return store_.acquire(session, judged, sent, now_);
        },
        [this, id = one.generation](Node& to, const Result<AcquireReply>& reply) {
          to.machine->on_acquire(id, reply, local(to));
        });
  }
  void send(Node& node, const SendRenew& one) {
    ask<RenewReply>(
        node,
        [this, record = one.record, sent = local(node)] {
          return store_.renew(record, sent, now_);
        },
        [this, id = one.generation](Node& to, const Result<RenewReply>& reply) {
          to.machine->on_renew(id, reply, local(to));
        });
  }
  void send(Node& node, const SendRelease& one) {
    ask<ReleaseReply>(
        node,
        [this, session = node.session, revision = one.revision] {
          return store_.release(session, revision, now_);
        },
        [this, id = one.generation](Node& to, const Result<ReleaseReply>& reply) {
          to.machine->on_release(id, reply, local(to));
        });
  }

  void open(Node& node, Generation generation) {
    node.watch = generation;
    node.seen = 0;
    node.watch_due = now_;
    tell(node);
  }
  void tell(Node& node) {
    const ElectionState state = store_.state(now_);
    if (node.watch == 0 || !node.machine || (node.seen != 0 && state.as_of <= node.seen)) return;
    node.seen = state.as_of;
    Result<ElectionState> what = state;
    if (chance(25)) what = fail(Errc::unavailable, "the watch broke");
    node.watch_due = std::max(node.watch_due, now_ + delay());
    on_node(node, node.watch_due - now_, [this, what, id = node.watch](Node& one) {
      if (one.watch == id) one.machine->on_watch(id, what, local(one));
    });
  }
  void tell_watchers() {
    for (auto& node : nodes_) tell(*node);
    const Instant ends = store_.ends();
    if (ends == kNever || ends == expiry_armed_) return;
    expiry_armed_ = ends;
    after(ends - now_, [this] {
      (void)store_.state(now_);
      tell_watchers();
    });
  }

  // Something happens to a process.
  void disturb() {
    if (at_peace()) return;
    Node& node = *nodes_.at(rng_.up_to(nodes_.size() - 1));
    switch (rng_.up_to(4)) {
      case 0:
        node.wakes = now_ + some({}, 3 * kTtl);
        break;
      case 1:
        on_node(node, {}, [this](Node& one) { one.machine->yield(local(one)); });
        break;
      case 2:
        on_node(node, {},
                [this](Node& one) { one.machine->stop(local(one), local(one) + some({}, kTtl)); });
        break;
      case 3:  // A crash: what it published dies with it.
        node.judge = std::make_unique<EffectJudge>(setup_.tracks_work);
        node.watch = 0;
        node.machine.reset();
        restart(node);
        break;
      default:
        break;
    }
    after(some(kTtl / 10, 4 * kTtl), [this] { disturb(); });
  }

  void check() {
    int leaders = 0;
    for (auto& node : nodes_) {
      leaders += node->judge->held(local(*node)) ? 1 : 0;
      if (!node->judge->faults().empty()) faults += node->name + ": " + node->judge->faults();
    }
    if (leaders > 1) {
      ++two_leaders;
      faults += "two lead at " + std::to_string(now_.time_since_epoch().count()) + "\n";
    }
    if (leaders > 0) last_led_ = now_;
  }
  void judge_the_end() {
    if (!faults.empty()) return;
    if (last_led_ < now_ - 2 * kTtl) faults += "nobody leads although the faults have stopped\n";
    const auto seconds = (setup_.faults + setup_.peace) / std::chrono::seconds(1);
    for (auto& node : nodes_) {
      if (node->requests > 25 * seconds) {
        faults += node->name + " sent " + std::to_string(node->requests) + " requests\n";
      }
    }
  }

  Setup setup_;
  Rng rng_;
  LittleStore store_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> queue_;
  std::uint64_t order_ = 0;
  Instant now_{};
  Instant expiry_armed_ = kNever;
  Instant last_led_ = kLongAgo;
  std::uint64_t last_token_ = 0;
};

}  // namespace tenure::core
