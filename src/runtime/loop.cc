// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/loop.h"

#include "runtime/run_task.h"

#include <tenure/leadership.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace tenure::runtime {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

class TimerHandle final : public Loop::Handle {
 public:
  TimerHandle(std::shared_ptr<Loop> loop, TimerQueue::Key key) noexcept
      : loop_(std::move(loop)), key_(key) {}
  ~TimerHandle() override { loop_->cancel(key_); }
  TimerHandle(const TimerHandle&) = delete;
  TimerHandle& operator=(const TimerHandle&) = delete;

 private:
  std::shared_ptr<Loop> loop_;
  TimerQueue::Key key_;
};

// Says which thread the loop is on, for as long as it is in it.
class Occupied {
 public:
  explicit Occupied(std::atomic<std::thread::id>& thread) noexcept : thread_(thread) {
    thread_.store(std::this_thread::get_id());
  }
  ~Occupied() { thread_.store(std::thread::id()); }
  Occupied(const Occupied&) = delete;
  Occupied& operator=(const Occupied&) = delete;

 private:
  std::atomic<std::thread::id>& thread_;
};

// libuv, short of descriptors, leaks some or aborts the process: 2 for its locks, once, and 2 for
// each loop. So this makes sure that they are there.
Result<void> reserve_descriptors() {
  std::array<int, 4> reserved{};
  bool all = true;
  int error = 0;
  for (int& fd : reserved) {
    fd = ::eventfd(0, EFD_CLOEXEC);
    if (fd >= 0) continue;
    all = false;
    error = errno;
  }
  for (const int fd : reserved) {
    if (fd >= 0) ::close(fd);
  }
  if (all) return {};
  return fail(Errc::unavailable, std::string("cannot make an event loop: ") + std::strerror(error));
}

}  // namespace

Loop::Loop(Clock& clock, std::unique_ptr<Timer> timer) noexcept
    : in_parent_(detail::fork_guard()), clock_(clock), timers_(clock, std::move(timer)) {}

Result<std::shared_ptr<Loop>> Loop::create(Clock& clock) {
  auto timer = clock.make_timer();
  if (timer == nullptr) return fail(Errc::unavailable, "the clock has no timer left");
  std::shared_ptr<Loop> loop(new Loop(clock, std::move(timer)));
  if (auto opened = loop->open(); !opened) return tl::unexpected(opened.error());
  return loop;
}

Loop::~Loop() {
  end();
  close();
}

Result<void> Loop::open() {
  if (auto enough = reserve_descriptors(); !enough) return enough;
  if (const int error = uv_loop_init(&uv_); error != 0) {
    return fail(Errc::unavailable, std::string("cannot make an event loop: ") + uv_strerror(error));
  }
  open_ = true;
  uv_.data = this;
  int error = uv_async_init(
      &uv_, &async_, [](uv_async_t* async) { static_cast<Loop*>(async->data)->run_posted(); });
  if (error == 0) async_.data = this;
  if (error == 0) error = uv_poll_init(&uv_, &timer_poll_, timers_.fd());
  if (error == 0) {
    timer_poll_.data = this;
    error = uv_poll_start(&timer_poll_, UV_READABLE, [](uv_poll_t* poll, int, int) {
      static_cast<Loop*>(poll->data)->run_timers();
    });
  }
  if (error != 0) {
    return fail(Errc::unavailable, std::string("cannot make an event loop: ") + uv_strerror(error));
  }
  // The kernel learns of watchers only when the loop goes round.
  uv_run(&uv_, UV_RUN_NOWAIT);
  accepting_ = true;
  return {};
}

void Loop::post(Task task) {
  const std::lock_guard lock(mutex_);
  if (!accepting_) return;
  posted_.push_back(std::move(task));
  wake_locked();
}

void Loop::wake() {
  const std::lock_guard lock(mutex_);
  if (accepting_) wake_locked();
}

void Loop::wake_locked() {
  if (std::exchange(woken_, true)) return;
  uv_async_send(&async_);
}

std::unique_ptr<Executor::Handle> Loop::at(Instant when, Task task) {
  return std::make_unique<TimerHandle>(shared_from_this(), timers_.add(when, std::move(task)));
}

void Loop::cancel(const TimerQueue::Key& key) noexcept {
  if (!in_forked_child()) timers_.remove(key);
}

void Loop::run_one(Task task) {
  --budget_;
  run_task(std::move(task));
}

void Loop::run_timers() {
  budget_ -= timers_.run_due(budget_, [this] { return !ended(); });
}

void Loop::run_posted() {
  std::size_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    woken_ = false;
    waiting = posted_.size();
  }
  for (; waiting > 0 && budget_ > 0 && !ended(); --waiting) {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      task = std::move(posted_.front());
      posted_.pop_front();
    }
    run_one(std::move(task));
  }
  const std::lock_guard lock(mutex_);
  if (accepting_ && !posted_.empty()) wake_locked();
}

void Loop::run() {
  const Occupied here(thread_);
  while (!ended()) {
    budget_ = kNoLimit;
    uv_run(&uv_, UV_RUN_ONCE);
  }
}

std::size_t Loop::run_once(std::size_t most) {
  const Occupied here(thread_);
  budget_ = most;
  started_some_ = false;
  if (!ended()) uv_run(&uv_, UV_RUN_NOWAIT);
  // The kernel learns of these when the loop goes round again.
  if (started_some_) wake();
  return most - budget_;
}

void Loop::end() noexcept {
  const std::lock_guard lock(mutex_);
  ended_.store(true);
  if (std::exchange(accepting_, false)) uv_async_send(&async_);
}

void Loop::close() noexcept {
  std::deque<Task> doomed;
  {
    const std::lock_guard lock(mutex_);
    doomed.swap(posted_);
  }
  doomed.clear();
  timers_.end();
  stop_all();
  if (!std::exchange(open_, false)) return;
  uv_walk(
      &uv_,
      [](uv_handle_t* handle, void*) {
        if (uv_is_closing(handle) == 0) uv_close(handle, nullptr);
      },
      nullptr);
  uv_run(&uv_, UV_RUN_DEFAULT);
  uv_loop_close(&uv_);
}

}  // namespace tenure::runtime
