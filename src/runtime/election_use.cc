// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/election_driver.h"
#include "runtime/engine.h"

#include <poll.h>

#include <cerrno>
#include <exception>

/// The side of the driver that users' threads are on: waiting, reading, leading.
namespace tenure::runtime {

namespace {

/// Puts an instant so far away that the wait has no end where that is what was asked for.
Instant later(Instant now, Duration limit) {
  return limit == kForever ? kNever : saturating_add(now, std::max(limit, Duration::zero()));
}

}  // namespace

bool ElectionDriver::must_not_wait() const noexcept {
  return engine_->on_loop() || work_thread_.load() == std::this_thread::get_id();
}

template <class Ready>
void ElectionDriver::wait_for(Ready ready, std::optional<RealTime> patience) {
  std::unique_lock lock(mutex_);
  if (engine_->threads() == Threads::library) {
    if (patience) {
      changed_.wait_until(lock, *patience, ready);
    } else {
      changed_.wait(lock, ready);
    }
    return;
  }
  while (!ready()) {
    lock.unlock();
    if (engine_->poll() == 0) {
      const int timeout_ms = patience ? real_ms_until(*patience) : -1;
      if (timeout_ms == 0) return;
      pollfd readable{engine_->fd(), POLLIN, 0};
      // A signal ends the wait early; the loop looks again.
      (void)::poll(&readable, 1, timeout_ms);
    }
    lock.lock();
  }
}

Result<void> ElectionDriver::set_begin(Begin begin, Where where) {
  const std::lock_guard lock(mutex_);
  if (started_) return fail(Errc::closed, "the election has started; set its work before start()");
  if (begin_ && where == Where::on_loop) {
    return fail(Errc::invalid_argument, "on_term() is set; an election has one kind of work");
  }
  begin_ = std::move(begin);
  begin_where_ = where;
  return {};
}

Result<void> ElectionDriver::stop(Duration limit, std::optional<RealTime> patience) {
  if (in_forked_child()) return fail(Errc::closed, "this is a forked child; it has no election");
  bool never_started = false;
  {
    const std::lock_guard lock(mutex_);
    if (!started_) {
      never_started = true;
      started_ = true;
      finished_ = true;
      phase_.store(Phase::stopped);
    } else if (finished_) {
      return {};
    }
  }
  if (never_started) {
    report(Stopped{});
    return {};
  }
  if (engine_->ended()) {
    return fail(Errc::closed, "the runtime was destroyed before its election was stopped");
  }
  ask_to_stop(limit);
  if (must_not_wait()) return {};
  wait_for([this] { return finished_; }, patience);
  const std::lock_guard lock(mutex_);
  if (!finished_) return fail(Errc::timed_out, "time stands still; the end was asked for");
  if (unfinished_) return tl::unexpected(*unfinished_);
  return {};
}

Result<void> ElectionDriver::lead(const std::function<void(Leadership)>& work) {
  if (engine_->threads() == Threads::caller) {
    return fail(Errc::unsupported,
                "lead() would block the caller's own loop; use on_term() in caller-driven mode");
  }
  auto begin = [weak = weak_from_this()](Leadership term, TermEnd end) {
    const auto self = weak.lock();
    if (!self) return;
    {
      const std::lock_guard lock(self->mutex_);
      self->for_lead_.emplace(std::move(term), std::move(end));
    }
    self->changed_.notify_all();
  };
  if (auto set = set_begin(std::move(begin), Where::on_loop); !set) return set;
  if (auto started = start(); !started) return started;
  while (true) {
    wait_for([this] { return finished_ || for_lead_; });
    {
      const std::lock_guard lock(mutex_);
      if (!for_lead_) break;
    }
    if (auto ran = run_work(work); !ran) return ran;
  }
  const std::lock_guard lock(mutex_);
  if (gave_up_) return tl::unexpected(*gave_up_);
  return {};
}

Result<void> ElectionDriver::run_work(const std::function<void(Leadership)>& work) {
  std::optional<std::pair<Leadership, TermEnd>> term;
  {
    const std::lock_guard lock(mutex_);
    term = std::exchange(for_lead_, std::nullopt);
  }
  std::optional<std::string> thrown;
  work_thread_.store(std::this_thread::get_id());
  try {
    work(term->first);
  } catch (const std::exception& exception) {
    thrown = exception.what();
  } catch (...) {
    thrown = "an exception that is no std::exception";
  }
  work_thread_.store({});
  if (!thrown) {
    term->second.done();
    return {};
  }
  // Stop first, so that the end of the work does not become the beginning of another term.
  ask_to_stop(asked_.request_limit);
  term->second.done();
  wait_for([this] { return finished_; });
  return fail(Errc::closed, "the work threw: " + *thrown);
}

std::optional<Event> ElectionDriver::next_event() { return events_.pop(); }

std::optional<Event> ElectionDriver::wait_event(Duration limit) {
  if (auto event = events_.pop(); event || must_not_wait()) return event;
  const auto passed = std::make_shared<std::atomic<bool>>(false);
  auto timer = engine_->at(later(engine_->clock().now(), limit), [weak = weak_from_this(), passed] {
    passed->store(true);
    if (const auto self = weak.lock()) self->notify();
  });
  wait_for([this, &passed] { return passed->load() || finished_ || !events_.empty(); });
  engine_->post([timer = std::shared_ptr<Executor::Handle>(std::move(timer))] {});
  return events_.pop();
}

int ElectionDriver::event_fd() { return events_.fd(); }

bool ElectionDriver::held() const noexcept {
  if (in_forked_child()) return false;
  const Duration deadline(deadline_ns_.load(std::memory_order_acquire));
  return deadline > engine_->clock().now().time_since_epoch();
}

Leadership ElectionDriver::leadership() const {
  if (in_forked_child()) return {};
  const std::lock_guard lock(mutex_);
  return published_ ? Leadership(published_) : Leadership();
}

std::string ElectionDriver::holder() const {
  if (in_forked_child()) return {};
  const std::lock_guard lock(mutex_);
  return holder_;
}

Timing ElectionDriver::timing() const {
  if (in_forked_child()) return asked_;
  const std::lock_guard lock(mutex_);
  return timing_;
}

}  // namespace tenure::runtime
