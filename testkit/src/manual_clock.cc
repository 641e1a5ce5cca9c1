// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/testkit/manual_clock.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tenure::testkit {
namespace {

struct Alarm {
  int fd = -1;
  Instant when = kNever;
};

// An eventfd write or read of ours can only fail with EAGAIN: readable already, or already empty.
void make_readable(int fd) noexcept { (void)::eventfd_write(fd, 1); }

void clear(int fd) noexcept {
  eventfd_t value = 0;
  (void)::eventfd_read(fd, &value);
}

WallTime plus(WallTime wall, Duration step) noexcept {
  return WallTime(saturating_add(wall.time_since_epoch(), step));
}

}  // namespace

struct ManualClock::State {
  mutable std::mutex mutex;
  // Read without the lock: a clock read must not wait for one that arms timers.
  std::atomic<Instant> now;
  std::atomic<WallTime> wall;
  std::vector<Alarm*> alarms;
};

namespace {

class ManualTimer final : public Timer {
 public:
  ManualTimer(int fd, std::shared_ptr<ManualClock::State> state)
      : state_(std::move(state)), alarm_{fd, kNever} {
    const std::lock_guard lock(state_->mutex);
    state_->alarms.push_back(&alarm_);
  }

  ~ManualTimer() override {
    {
      const std::lock_guard lock(state_->mutex);
      std::erase(state_->alarms, &alarm_);
    }
    ::close(alarm_.fd);
  }

  ManualTimer(const ManualTimer&) = delete;
  ManualTimer& operator=(const ManualTimer&) = delete;

  [[nodiscard]] int fd() const noexcept override { return alarm_.fd; }

  void arm(Instant when) noexcept override {
    const std::lock_guard lock(state_->mutex);
    clear(alarm_.fd);
    alarm_.when = when;
    if (when != kNever && when <= state_->now.load()) {
      alarm_.when = kNever;
      make_readable(alarm_.fd);
    }
  }

 private:
  std::shared_ptr<ManualClock::State> state_;
  Alarm alarm_;
};

// The caller holds the lock.
void move_to(ManualClock::State& state, Instant when) {
  const Instant now = state.now.load();
  if (when <= now) return;
  state.wall.store(plus(state.wall.load(), saturating_between(now, when)));
  state.now.store(when);
  for (Alarm* alarm : state.alarms) {
    if (alarm->when == kNever || alarm->when > when) continue;
    alarm->when = kNever;
    make_readable(alarm->fd);
  }
}

}  // namespace

ManualClock::ManualClock(Instant start, WallTime wall) : state_(std::make_shared<State>()) {
  state_->now.store(start);
  state_->wall.store(wall);
}

ManualClock::~ManualClock() = default;

Instant ManualClock::now() const noexcept { return state_->now.load(); }

WallTime ManualClock::wall_now() const noexcept { return state_->wall.load(); }

std::unique_ptr<Timer> ManualClock::make_timer() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) return nullptr;
  return std::make_unique<ManualTimer>(fd, state_);
}

void ManualClock::advance(Duration step) {
  const std::lock_guard lock(state_->mutex);
  move_to(*state_, saturating_add(state_->now.load(), step));
}

void ManualClock::advance_to(Instant when) {
  const std::lock_guard lock(state_->mutex);
  move_to(*state_, when);
}

void ManualClock::set_wall(WallTime wall) {
  const std::lock_guard lock(state_->mutex);
  state_->wall.store(wall);
}

void ManualClock::advance_wall(Duration step) {
  const std::lock_guard lock(state_->mutex);
  state_->wall.store(plus(state_->wall.load(), step));
}

Instant ManualClock::next_timer() const {
  const std::lock_guard lock(state_->mutex);
  Instant next = kNever;
  for (const Alarm* alarm : state_->alarms) next = std::min(next, alarm->when);
  return next;
}

}  // namespace tenure::testkit
