// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/election_driver.h"

#include "runtime/engine.h"
#include "runtime/fatal.h"

#include <algorithm>
#include <variant>

namespace tenure::runtime {

ElectionDriver::ElectionDriver(std::shared_ptr<Engine> engine, std::shared_ptr<LeaseStore> store,
                               ElectionOptions options, Timing timing, std::string session)
    : engine_(std::move(engine)),
      store_(std::move(store)),
      options_(std::move(options)),
      asked_(timing),
      session_(std::move(session)),
      events_(options_.event_capacity),
      timing_(timing) {}

template <class Input>
void ElectionDriver::feed(Input input) {
  // A store that answers from another thread, or from within the call that asked, breaks its
  // contract; the machine must not be the one to suffer.
  if (!engine_->on_loop() || feeding_) {
    engine_->post([self = shared_from_this(), input = std::move(input)] { self->feed(input); });
    return;
  }
  if (!machine_) return;
  feeding_ = true;
  input(*machine_, engine_->clock().now());
  carry_out();
  feeding_ = false;
  arm();
}

void ElectionDriver::carry_out() {
  // held() must be false before anyone can read a phase without leadership, so the end of a term is
  // published by its effect and the phase after it; a beginning the other way round.
  core::Effects effects = machine_->take_effects();
  for (core::Effect& effect : effects) {
    std::visit([this](auto& one) { perform(one); }, effect);
  }
  publish();
}

void ElectionDriver::publish() {
  const std::lock_guard lock(mutex_);
  phase_.store(machine_->phase());
  if (holder_ != machine_->holder()) holder_ = machine_->holder();
  timing_ = machine_->timing();
}

void ElectionDriver::arm() {
  const Instant next = machine_->next_deadline();
  if (next == armed_) return;
  armed_ = next;
  timer_.reset();
  if (next == kNever) return;
  timer_ = engine_->at(next, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->armed_ = kNever;
    self->feed([](core::ElectionMachine& machine, Instant now) { machine.tick(now); });
  });
}

void ElectionDriver::drop_watch() {
  if (!watch_) return;
  // Not here: this may be the watch's own call.
  engine_->post([watch = std::shared_ptr<Watch>(std::move(watch_))] {});
}

void ElectionDriver::abandon() {
  engine_->post([self = shared_from_this()] {
    self->timer_.reset();
    self->watch_.reset();
    self->machine_.reset();
  });
}

void ElectionDriver::report(EventBody body) {
  Event event;
  event.body = std::move(body);
  event.wall = engine_->clock().wall_now();
  events_.push(std::move(event));
  notify();
}

void ElectionDriver::notify() {
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

void ElectionDriver::tell_work() {
  if (!term_ || term_->stop.stop_requested()) return;
  // Stop callbacks are users' code: never on the loop.
  engine_->call_back([term = term_] { term->stop.request_stop(); });
}

TermEnd ElectionDriver::end_of(std::uint64_t token) {
  return TermEnd([weak = weak_from_this(), token] {
    const auto self = weak.lock();
    if (!self) return;
    self->engine_->post([self, token] {
      if (!self->term_ || self->term_->token != token) return;
      self->feed([](core::ElectionMachine& machine, Instant now) { machine.work_ended(now); });
    });
  });
}

void ElectionDriver::begin_work() {
  if (!begin_) return;
  if (begin_where_ == Where::on_loop) {
    begin_(Leadership(term_), end_of(term_->token));
    return;
  }
  auto end = std::make_shared<TermEnd>(end_of(term_->token));
  engine_->call_back([self = shared_from_this(), term = Leadership(term_), end] {
    self->work_thread_.store(std::this_thread::get_id());
    TermEnd mine = std::move(*end);
    self->begin_(term, std::move(mine));
    self->work_thread_.store({});
  });
}

void ElectionDriver::perform(core::SendAcquire& effect) {
  AcquireRequest request{options_.name, options_.id,  session_,
                         options_.ttl,  effect.limit, std::move(effect.judged_expired)};
  store_->acquire(std::move(request), [weak = weak_from_this(),
                                       generation = effect.generation](Result<AcquireReply> reply) {
    if (const auto self = weak.lock()) {
      self->feed(
          [generation, reply = std::move(reply)](core::ElectionMachine& machine, Instant now) {
            machine.on_acquire(generation, reply, now);
          });
    }
  });
}

void ElectionDriver::perform(core::SendRenew& effect) {
  RenewRequest request{std::move(effect.record), options_.ttl, effect.limit};
  store_->renew(std::move(request), [weak = weak_from_this(),
                                     generation = effect.generation](Result<RenewReply> reply) {
    if (const auto self = weak.lock()) {
      self->feed(
          [generation, reply = std::move(reply)](core::ElectionMachine& machine, Instant now) {
            machine.on_renew(generation, reply, now);
          });
    }
  });
}

void ElectionDriver::perform(core::SendRelease& effect) {
  ReleaseRequest request{options_.name, session_, effect.revision, effect.limit};
  store_->release(std::move(request), [weak = weak_from_this(),
                                       generation = effect.generation](Result<ReleaseReply> reply) {
    if (const auto self = weak.lock()) {
      self->feed(
          [generation, reply = std::move(reply)](core::ElectionMachine& machine, Instant now) {
            machine.on_release(generation, reply, now);
          });
    }
  });
}

void ElectionDriver::perform(core::OpenWatch& effect) {
  drop_watch();
  watch_ = store_->watch(
      {options_.name, session_},
      [weak = weak_from_this(), generation = effect.generation](Result<ElectionState> state) {
        if (const auto self = weak.lock()) {
          self->feed(
              [generation, state = std::move(state)](core::ElectionMachine& machine, Instant now) {
                machine.on_watch(generation, state, now);
              });
        }
      });
}

void ElectionDriver::perform(core::CloseWatch& /*effect*/) { drop_watch(); }

void ElectionDriver::perform(core::BeginTerm& effect) {
  term_ = std::make_shared<detail::Term>(engine_->clock(), effect.token);
  const Duration::rep deadline = effect.deadline.time_since_epoch().count();
  {
    const std::lock_guard lock(mutex_);
    phase_.store(Phase::leading);
    holder_ = options_.id;
    published_ = term_;
    term_->deadline_ns.store(deadline, std::memory_order_release);
    deadline_ns_.store(deadline, std::memory_order_release);
  }
  report(Elected{Leadership(term_)});
  begin_work();
}

void ElectionDriver::perform(core::MoveDeadline& effect) {
  const Duration::rep deadline = effect.deadline.time_since_epoch().count();
  term_->deadline_ns.store(deadline, std::memory_order_release);
  deadline_ns_.store(deadline, std::memory_order_release);
}

void ElectionDriver::perform(core::TellWork& /*effect*/) { tell_work(); }

void ElectionDriver::perform(core::EndTerm& effect) {
  const Duration::rep over = kLongAgo.time_since_epoch().count();
  term_->deadline_ns.store(over, std::memory_order_release);
  deadline_ns_.store(over, std::memory_order_release);
  phase_.store(Phase::stepping_down);
  tell_work();
  report(Lost{effect.token, effect.reason, std::move(effect.detail)});
}

void ElectionDriver::perform(core::ReportHolder& effect) {
  report(HolderChanged{std::move(effect.holder), effect.token});
}

void ElectionDriver::perform(core::ReportTrouble& effect) {
  report(Trouble{std::move(effect.error), effect.recovered, effect.of_work});
}

void ElectionDriver::perform(core::Finish& effect) {
  phase_.store(Phase::stopped);
  report(Stopped{effect.error});
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    (stop_asked_.load() ? unfinished_ : gave_up_) = std::move(effect.error);
  }
  changed_.notify_all();
}

void ElectionDriver::perform(core::AbortProcess& /*effect*/) {
  fatal("the work goes on although its term is over, and on_overrun is abort");
}

Result<void> ElectionDriver::start() {
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return fail(Errc::closed, "the election was stopped");
    if (std::exchange(started_, true)) return {};
  }
  core::ElectionConfig config;
  config.options = options_;
  config.timing = asked_;
  config.session = session_;
  config.expiry = store_->traits().expiry;
  config.has_queue = store_->traits().has_queue;
  config.tracks_work = static_cast<bool>(begin_);
  config.renew_phase = engine_->renew_phase();
  config.seed = engine_->random();
  engine_->post([self = shared_from_this(), config = std::move(config)] {
    self->machine_.emplace(config);
    self->feed([](core::ElectionMachine& machine, Instant now) { machine.start(now); });
  });
  return {};
}

void ElectionDriver::yield() {
  engine_->post([self = shared_from_this()] {
    self->feed([](core::ElectionMachine& machine, Instant now) { machine.yield(now); });
  });
}

void ElectionDriver::ask_to_stop(Duration limit) {
  stop_asked_.store(true);
  const Instant now = engine_->clock().now();
  const Instant until =
      limit == kForever ? kNever : saturating_add(now, std::max(limit, Duration::zero()));
  engine_->post([self = shared_from_this(), until] {
    self->feed(
        [until](core::ElectionMachine& machine, Instant then) { machine.stop(then, until); });
  });
}

}  // namespace tenure::runtime
