// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/writer_lease_engine.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace tenure::runtime {
namespace {

constexpr std::size_t kAbandonAtOnce = 256;

}  // namespace

/// A thread that waits for something to become true inside.
struct WriterLeaseEngine::Waiter {
  Signal changed;
};

WriterLeaseEngine::~WriterLeaseEngine() = default;

Result<void> WriterLeaseEngine::start() {
  if (!bell_.valid() || !end_.valid() || timer_ == nullptr) {
    return fail(Errc::unavailable, "no file descriptors left");
  }
  if (caller_driven()) {
    const std::array<int, 2> fds{bell_.fd(), timer_->fd()};
    caller_fd_ = readable_with(fds);
    return caller_fd_ ? Result<void>() : fail(Errc::unavailable, "no file descriptors left");
  }
  const std::lock_guard guard(threads_mutex_);
  try {
    for (std::size_t i = 0; i < options_.workers; ++i) {
      enter();
      ++threads_alive_;
      leave();
      threads_.emplace_back([self = shared_from_this()] { self->serve(); });
    }
  } catch (const std::system_error& error) {
    enter();
    --threads_alive_;
    leave();
    return fail(Errc::unavailable, std::string("cannot start a worker: ") + error.what());
  }
  return {};
}

void WriterLeaseEngine::tell_waiters() {
  for (const Waiter* waiter : waiters_) waiter->changed.raise();
}

// `done` is asked inside. `drive`: this thread runs the work meanwhile, as nobody else does.
template <class Done>
Result<void> WriterLeaseEngine::wait_for(Clock& clock, Duration limit, bool drive, Done done) {
  enter();
  bool is_done = done();
  leave();
  if (is_done) return {};
  Waiter waiter;
  const std::unique_ptr<Timer> timer = clock.make_timer();
  if (!waiter.changed.valid() || timer == nullptr) {
    return fail(Errc::unavailable, "no file descriptors left to wait with");
  }
  timer->arm(saturating_add(clock.now(), std::max(limit, Duration::zero())));
  std::array<int, 4> fds{waiter.changed.fd(), timer->fd(), bell_.fd(), timer_->fd()};
  const std::span<const int> watched(fds.data(), drive ? 4 : 2);

  enter();
  waiters_.push_back(&waiter);
  bool expired = false;
  while (!(is_done = done()) && !expired) {
    leave();
    if (!drive || poll() == 0) wait_for_any(watched);
    if (in_forked_child()) return fail(Errc::closed, "this is a forked child");
    while (waiter.changed.take()) {
    }
    expired = is_readable(timer->fd());
    enter();
  }
  std::erase(waiters_, &waiter);
  leave();
  return is_done ? Result<void>() : fail(Errc::timed_out, "the limit has passed");
}

Result<bool> WriterLeaseEngine::wait(Duration limit) {
  if (OnThread::is_of(this)) {
    return fail(Errc::unsupported, "wait: called from inside work, which it would wait for");
  }
  const auto decided = [this] { return core_.state().resolved(); };
  const auto waited = wait_for(clock_, limit, caller_driven(),
                               [&] { return decided() || ended_.load(std::memory_order_relaxed); });
  if (!waited) return tl::unexpected(waited.error());
  enter();
  const bool known = decided();
  const bool leading = core_.state().state() == WriterState::leading;
  leave();
  if (!known) return fail(Errc::closed, "the writer lease was stopped before any result");
  return leading;
}

void WriterLeaseEngine::abandon_all() {
  for (bool more = true; more;) {
    std::vector<Work> dropped;
    enter();
    while (dropped.size() < kAbandonAtOnce) {
      Work work = core_.abandon_one();
      if (!work) break;
      dropped.push_back(std::move(work));
    }
    leave();
    more = !dropped.empty();
  }
}

Result<void> WriterLeaseEngine::stop_by(Clock& clock, Duration limit) {
  const bool inside = OnThread::is_of(this);
  const OnThread::Excused own(this);
  enter();
  if (!ended_.exchange(true)) end_.raise();
  excused_ += own.count();
  tell_waiters();
  leave();
  abandon_all();

  // Pieces that are themselves in stop() wait for this one: none waits for them.
  auto stopped = wait_for(clock, limit, false, [&] {
    return inside ? running_ <= excused_ : running_ == 0 && threads_alive_ == 0;
  });
  if (in_forked_child()) return stopped;
  enter();
  excused_ -= own.count();
  leave();
  if (!inside && stopped) {
    const std::lock_guard guard(threads_mutex_);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  if (!stopped && stopped.error().code == Errc::timed_out) {
    return fail(Errc::timed_out, "work still runs; no other work will");
  }
  return stopped;
}

void WriterLeaseEngine::end() noexcept {
  (void)stop_by(system_clock(), options_.stop_limit);
  const std::lock_guard guard(threads_mutex_);
  for (std::thread& thread : threads_) thread.detach();
  threads_.clear();
}

}  // namespace tenure::runtime
