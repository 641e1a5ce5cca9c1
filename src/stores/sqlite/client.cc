// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace tenure::sqlite {
namespace {

using std::chrono::milliseconds;

// A safety net for what nobody rings the bell for: rows edited by hand, a bell lost on a full disk.
constexpr Duration kSlowLook = milliseconds(1000);
// Where inotify is not to be had, and after a look that failed.
constexpr Duration kQuickLook = milliseconds(100);

// Whoever stands for an election may soon hold it, for a short command and nothing else. The system
// takes 5 ms and more to take inotify away from a process that ends, so it is not asked for at
// once.
constexpr Duration kShortCommand = milliseconds(10);

// A dying process closes its descriptor, which wakes us, some time before the kernel drops its
// lock.
constexpr std::array kDeathLooks = {milliseconds(1), milliseconds(4), milliseconds(15),
                                    milliseconds(40)};

Error closed_error() { return Error{Errc::closed, "the store is closed"}; }

bool ends_watches(Errc code) noexcept {
  return code != Errc::unavailable && code != Errc::outcome_unknown && code != Errc::closed;
}

}  // namespace

Client::Client(std::shared_ptr<Engine> engine, Executor& executor)
    : executor_(executor),
      engine_(std::move(engine)),
      shared_(std::make_shared<Shared>(executor, engine_)),
      hub_(std::make_shared<WatchHub>()) {}

Client::~Client() {
  if (!is_shut_) shut(nullptr);
}

void Client::submit(std::shared_ptr<Operation> operation) {
  if (is_shut_) {
    executor_.post([operation = std::move(operation)] { operation->give_up(closed_error()); });
    return;
  }
  in_flight_.emplace(operation.get(), operation);
  if (operation->limit() < armed_limit_) {
    armed_limit_ = operation->limit();
    limit_timer_ = executor_.at(armed_limit_, [this] { keep_limits(); });
  }
  if (!shared_->queue.push(std::move(operation))) return;
  shared_->strand->run([shared = shared_, client = weak_from_this()] { serve(shared, client); });
}

void Client::serve(const std::shared_ptr<Shared>& shared, const std::weak_ptr<Client>& client) {
  auto batch = shared->queue.take();
  if (batch.empty()) return;
  OperationQueue::Batch again;
  Engine& engine = *shared->engine;
  engine.run(batch, again);
  std::optional<Sighting> seen;
  if (engine.has_changed() && shared->is_watched) seen = engine.observe(Depth::changes, false);
  shared->queue.put_back(again);
  if (!again.empty()) shared->strand->give_way();
  shared->executor.post([client, batch = std::move(batch), seen = std::move(seen)] {
    if (const auto self = client.lock()) self->forget(batch);
    for (const auto& operation : batch) operation->answer();
    const auto self = client.lock();
    if (self != nullptr && seen) self->end_look(*seen);
  });
  if (engine.wants_checkpoint()) {
    shared->strand->run([shared] { shared->engine->checkpoint(); });
  }
  shared->strand->run([shared, client] { serve(shared, client); });
}

void Client::forget(const OperationQueue::Batch& batch) {
  for (const auto& operation : batch) in_flight_.erase(operation.get());
}

void Client::keep_limits() {
  const Instant now = executor_.clock().now();
  OperationQueue::Batch late;
  armed_limit_ = kNever;
  for (const auto& [key, operation] : in_flight_) {
    if (operation->limit() <= now) {
      late.push_back(operation);
    } else {
      armed_limit_ = std::min(armed_limit_, operation->limit());
    }
  }
  limit_timer_ =
      armed_limit_ == kNever ? nullptr : executor_.at(armed_limit_, [this] { keep_limits(); });
  forget(late);
  // May destroy this object.
  for (const auto& operation : late) {
    operation->give_up(Error{Errc::unavailable, "the database did not answer in time"});
  }
}

std::unique_ptr<Watch> Client::watch(WatchRequest request, WatchHub::OnState on_state,
                                     const Result<void>& good) {
  if (is_shut_ || !good) {
    const auto hub = std::make_shared<WatchHub>();
    auto ended = hub->add(std::move(request), std::move(on_state));
    executor_.post([hub, error = is_shut_ ? closed_error() : good.error()] { hub->end(error); });
    return ended;
  }
  auto handle = hub_->add(std::move(request), std::move(on_state));
  shared_->is_watched = true;
  if (feed_ == nullptr && feed_timer_ == nullptr) {
    // What is asked in this round of the loop comes first, in whatever order.
    executor_.post([client = weak_from_this()] {
      if (const auto self = client.lock()) self->prepare_feed();
    });
  }
  look(Depth::full);
  return handle;
}

void Client::prepare_feed() {
  if (feed_ != nullptr || feed_timer_ != nullptr || is_shut_) return;
  if (in_flight_.empty()) return open_feed();
  feed_timer_ =
      executor_.at(saturating_add(executor_.clock().now(), kShortCommand), [this] { open_feed(); });
}

void Client::open_feed() {
  feed_timer_ = nullptr;
  if (hub_->empty()) return;
  feed_ = std::make_unique<ChangeFeed>(executor_, engine_->lock_path(),
                                       [this](Stir stir) { hear(stir); });
  feed_->refresh();
  if (slow_timer_ == nullptr) arm_slow_look(false);
  // What nobody has told us in the meantime.
  look(Depth::changes);
}

void Client::look(Depth depth) {
  if (hub_->empty() || is_shut_) return;
  wanted_look_ = std::max(wanted_look_.value_or(Depth::changes), depth);
  if (!is_looking_) begin_look();
}

void Client::begin_look() {
  is_looking_ = true;
  const Depth depth = *std::exchange(wanted_look_, std::nullopt);
  const bool present = hub_->begin_priming();
  shared_->strand->run([shared = shared_, client = weak_from_this(), depth, present] {
    auto seen = shared->engine->observe(depth, present);
    shared->executor.post([client, seen = std::move(seen)] {
      const auto self = client.lock();
      if (self == nullptr) return;
      self->is_looking_ = false;
      self->end_look(seen);
      if (self->wanted_look_ && !self->is_shut_) self->begin_look();
    });
  });
}

void Client::end_look(Sighting seen) {
  if (is_shut_) return;
  const auto hub = hub_;
  if (!seen) {
    arm_slow_look(true);
    if (ends_watches(seen.error().code)) hub->end(seen.error());
    return;
  }
  any_held_ = seen->any_held;
  arm_expiry(seen->next_expiry);
  hub->deliver(*seen);
}

void Client::arm_slow_look(bool failed) {
  const bool is_deaf = feed_ != nullptr && !feed_->is_listening();
  const Duration span = failed || is_deaf ? kQuickLook : kSlowLook;
  // Three to five quarters, so that the many candidates of a host do not look in step.
  const double jitter = 0.75 + 0.5 * static_cast<double>(executor_.random() >> 11) * 0x1p-53;
  slow_timer_ = executor_.at(saturating_add(executor_.clock().now(), scale(span, jitter)), [this] {
    arm_slow_look(false);
    if (hub_->empty()) return;
    if (feed_ != nullptr) feed_->refresh();
    look(Depth::slow);
  });
}

void Client::arm_expiry(Instant when) {
  if (when == armed_expiry_ && expiry_timer_ != nullptr) return;
  armed_expiry_ = when;
  expiry_timer_ = when == kNever ? nullptr : executor_.at(when, [this] {
    expiry_timer_ = nullptr;
    look(Depth::full);
  });
}

void Client::hear(Stir stir) {
  if (stir.closed && any_held_) look_for_deaths(0);
  look(stir.replaced ? Depth::slow : Depth::changes);
}

void Client::look_for_deaths(std::size_t step) {
  const Instant when = saturating_add(executor_.clock().now(), kDeathLooks[step]);
  death_timer_ = executor_.at(when, [this, step] {
    if (step + 1 < kDeathLooks.size() && any_held_) {
      look_for_deaths(step + 1);
    } else {
      death_timer_ = nullptr;
    }
    look(Depth::changes);
  });
}

void Client::shut(std::function<void()> done) {
  const bool is_first = !std::exchange(is_shut_, true);
  if (is_first) {
    for (auto* timer : {&limit_timer_, &feed_timer_, &slow_timer_, &expiry_timer_, &death_timer_})
      timer->reset();
    feed_.reset();
    OperationQueue::Batch waiting;
    for (const auto& [key, operation] : in_flight_) waiting.push_back(operation);
    executor_.post([waiting = std::move(waiting), hub = hub_] {
      hub->end(closed_error());
      for (const auto& operation : waiting) operation->cancel(closed_error());
    });
  }
  shared_->strand->run([shared = shared_, done = std::move(done)] {
    while (true) {
      auto batch = shared->queue.take();
      if (batch.empty()) break;
      for (const auto& operation : batch) operation->set_error(closed_error());
      shared->executor.post([batch = std::move(batch)] {
        for (const auto& operation : batch) operation->answer();
      });
    }
    shared->engine->close();
    if (done) shared->executor.post(done);
  });
}

}  // namespace tenure::sqlite
