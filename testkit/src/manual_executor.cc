// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/testkit/manual_executor.h>

#include "core/rng.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tenure::testkit {
namespace {

using Task = Executor::Task;
using TimerKey = std::pair<Instant, std::uint64_t>;

[[noreturn]] void die(const char* message) {
  std::fprintf(stderr, "tenure::testkit::ManualExecutor: %s\n", message);
  std::abort();
}

struct Watched {
  int fd = -1;
  Task task;
  bool alive = true;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {
    if (fd_ < 0) die("the process is out of descriptors");
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

struct ManualExecutor::State {
  explicit State(std::uint64_t seed) : rng(seed) {}

  mutable std::mutex mutex;
  bool ended = false;
  bool hold_blocking = false;
  bool hold_posts = false;
  std::uint64_t next_sequence = 0;
  std::deque<Task> posted;
  std::deque<Task> held_posts;
  std::deque<Task> blocking;
  std::map<TimerKey, Task> timers;
  std::vector<std::shared_ptr<Watched>> watched;
  core::Rng rng;
  // Wakes wait_until() when another thread has posted.
  Descriptor wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

namespace {

class TimerHandle final : public Executor::Handle {
 public:
  TimerHandle(std::shared_ptr<ManualExecutor::State> state, TimerKey key)
      : state_(std::move(state)), key_(key) {}

  ~TimerHandle() override {
    // The task may own other handles, so it is destroyed after the lock is given back.
    std::map<TimerKey, Task>::node_type removed;
    const std::lock_guard lock(state_->mutex);
    removed = state_->timers.extract(key_);
  }

  TimerHandle(const TimerHandle&) = delete;
  TimerHandle& operator=(const TimerHandle&) = delete;

 private:
  std::shared_ptr<ManualExecutor::State> state_;
  TimerKey key_;
};

class WatchedHandle final : public Executor::Handle {
 public:
  WatchedHandle(std::shared_ptr<ManualExecutor::State> state, std::shared_ptr<Watched> watched)
      : state_(std::move(state)), watched_(std::move(watched)) {}

  ~WatchedHandle() override {
    const std::lock_guard lock(state_->mutex);
    watched_->alive = false;
    std::erase(state_->watched, watched_);
  }

  WatchedHandle(const WatchedHandle&) = delete;
  WatchedHandle& operator=(const WatchedHandle&) = delete;

 private:
  std::shared_ptr<ManualExecutor::State> state_;
  std::shared_ptr<Watched> watched_;
};

Task take_posted(ManualExecutor::State& state) {
  const std::lock_guard lock(state.mutex);
  if (state.posted.empty()) return {};
  Task task = std::move(state.posted.front());
  state.posted.pop_front();
  return task;
}

Task take_due(ManualExecutor::State& state, Instant now) {
  const std::lock_guard lock(state.mutex);
  const auto first = state.timers.begin();
  if (first == state.timers.end() || first->first.first > now) return {};
  Task task = std::move(first->second);
  state.timers.erase(first);
  return task;
}

std::vector<std::shared_ptr<Watched>> all_watched(const ManualExecutor::State& state) {
  const std::lock_guard lock(state.mutex);
  return state.watched;
}

// The readable ones among those watched; `extra` takes part in the wait and is not reported.
std::vector<std::shared_ptr<Watched>> poll_watched(const ManualExecutor::State& state,
                                                   std::vector<pollfd>& extra, int timeout_ms) {
  const auto watched = all_watched(state);
  std::vector<pollfd> fds;
  for (const auto& entry : watched) fds.push_back({entry->fd, POLLIN, 0});
  fds.insert(fds.end(), extra.begin(), extra.end());
  if (fds.empty()) return {};
  if (::poll(fds.data(), fds.size(), timeout_ms) < 0) {
    if (errno == EINTR) return {};
    die(std::strerror(errno));
  }
  std::vector<std::shared_ptr<Watched>> ready;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if ((fds[i].revents & POLLNVAL) != 0) die("a watched descriptor was closed");
    if (fds[i].revents != 0) ready.push_back(watched[i]);
  }
  std::copy(fds.end() - static_cast<std::ptrdiff_t>(extra.size()), fds.end(), extra.begin());
  return ready;
}

std::size_t run_ready(const ManualExecutor::State& state) {
  std::vector<pollfd> none;
  std::size_t ran = 0;
  for (const auto& entry : poll_watched(state, none, 0)) {
    // An earlier one of this round may have ended this watch.
    if (!entry->alive) continue;
    entry->task();
    ++ran;
  }
  return ran;
}

int real_timer(Duration limit) {
  const int fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  const auto nanoseconds = std::max(limit, Duration(1)).count();
  itimerspec spec{};
  spec.it_value.tv_sec = nanoseconds / 1'000'000'000;
  spec.it_value.tv_nsec = nanoseconds % 1'000'000'000;
  if (fd >= 0 && ::timerfd_settime(fd, 0, &spec, nullptr) != 0) die(std::strerror(errno));
  return fd;
}

}  // namespace

ManualExecutor::ManualExecutor(ManualClock& clock, std::uint64_t seed)
    : clock_(clock), manual_(&clock), state_(std::make_shared<State>(seed)) {}

ManualExecutor::ManualExecutor(Clock& clock, std::uint64_t seed)
    : clock_(clock), state_(std::make_shared<State>(seed)) {}

ManualExecutor::~ManualExecutor() {
  // Moved out first: destroying a task may destroy handles, which take the lock.
  std::deque<Task> posted;
  std::deque<Task> held;
  std::deque<Task> blocking;
  std::map<TimerKey, Task> timers;
  std::vector<std::shared_ptr<Watched>> watched;
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
  posted.swap(state_->posted);
  held.swap(state_->held_posts);
  blocking.swap(state_->blocking);
  timers.swap(state_->timers);
  watched.swap(state_->watched);
}

Clock& ManualExecutor::clock() noexcept { return clock_; }

void ManualExecutor::post(Task task) {
  const std::lock_guard lock(state_->mutex);
  if (state_->ended) return;
  (state_->hold_posts ? state_->held_posts : state_->posted).push_back(std::move(task));
  (void)::eventfd_write(state_->wake.get(), 1);
}

void ManualExecutor::run_blocking(Task task) {
  const std::lock_guard lock(state_->mutex);
  if (state_->ended) return;
  state_->blocking.push_back(std::move(task));
  (void)::eventfd_write(state_->wake.get(), 1);
}

std::unique_ptr<Executor::Handle> ManualExecutor::at(Instant when, Task task) {
  const std::lock_guard lock(state_->mutex);
  const TimerKey key{when, state_->next_sequence++};
  if (when != kNever && !state_->ended) state_->timers.emplace(key, std::move(task));
  (void)::eventfd_write(state_->wake.get(), 1);
  return std::make_unique<TimerHandle>(state_, key);
}

Result<std::unique_ptr<Executor::Handle>> ManualExecutor::on_readable(int fd, Task task) {
  pollfd probe{fd, POLLIN, 0};
  if (fd < 0 || ::poll(&probe, 1, 0) < 0 || (probe.revents & POLLNVAL) != 0) {
    return fail(Errc::unavailable, "cannot watch descriptor " + std::to_string(fd));
  }
  auto entry = std::make_shared<Watched>(Watched{fd, std::move(task), true});
  const std::lock_guard lock(state_->mutex);
  if (!state_->ended) state_->watched.push_back(entry);
  (void)::eventfd_write(state_->wake.get(), 1);
  return std::make_unique<WatchedHandle>(state_, std::move(entry));
}

std::uint64_t ManualExecutor::random() noexcept {
  const std::lock_guard lock(state_->mutex);
  return state_->rng.next();
}

bool ManualExecutor::run_one_round(std::size_t& steps) {
  const std::size_t before = steps;
  const auto count = [&steps] {
    if (++steps > kMostSteps) die("never idle: a task repeats itself, or a descriptor stays full");
  };
  while (Task task = take_posted(*state_)) {
    count();
    task();
  }
  while (Task task = take_due(*state_, clock_.now())) {
    count();
    task();
  }
  bool held = false;
  {
    const std::lock_guard lock(state_->mutex);
    held = state_->hold_blocking;
  }
  while (!held && run_blocking_job(0, false)) count();
  for (std::size_t ran = run_ready(*state_); ran > 0; --ran) count();
  return steps != before;
}

std::size_t ManualExecutor::run_until_idle() {
  std::size_t steps = 0;
  while (run_one_round(steps)) {
  }
  return steps;
}

void ManualExecutor::advance(Duration step) {
  if (manual_ == nullptr) die("advance() needs a ManualClock");
  const Instant end = saturating_add(clock_.now(), std::max(step, Duration::zero()));
  run_until_idle();
  for (Instant due = next_due(); due <= end && due != kNever; due = next_due()) {
    manual_->advance_to(due);
    run_until_idle();
  }
  manual_->advance_to(end);
  run_until_idle();
}

bool ManualExecutor::wait_until(const std::function<bool()>& condition, Duration real_limit) {
  const Descriptor limit(real_timer(real_limit));
  const auto timer = clock_.make_timer();
  if (timer == nullptr) die("the process is out of descriptors");
  while (true) {
    eventfd_t ignored = 0;
    (void)::eventfd_read(state_->wake.get(), &ignored);
    run_until_idle();
    if (condition()) return true;
    timer->arm(next_due());
    std::vector<pollfd> extra{
        {state_->wake.get(), POLLIN, 0}, {timer->fd(), POLLIN, 0}, {limit.get(), POLLIN, 0}};
    (void)poll_watched(*state_, extra, -1);
    if (extra.back().revents != 0) {
      run_until_idle();
      return condition();
    }
  }
}

Instant ManualExecutor::next_due() const {
  const std::lock_guard lock(state_->mutex);
  return state_->timers.empty() ? kNever : state_->timers.begin()->first.first;
}

void ManualExecutor::hold_blocking(bool hold) {
  const std::lock_guard lock(state_->mutex);
  state_->hold_blocking = hold;
}

std::size_t ManualExecutor::blocking_count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->blocking.size();
}

bool ManualExecutor::run_held_blocking(std::size_t index) { return run_blocking_job(index, false); }

bool ManualExecutor::run_held_blocking_without_answer(std::size_t index) {
  return run_blocking_job(index, true);
}

bool ManualExecutor::run_blocking_job(std::size_t index, bool hold_posts) {
  Task task;
  {
    const std::lock_guard lock(state_->mutex);
    if (index >= state_->blocking.size()) return false;
    const auto job = state_->blocking.begin() + static_cast<std::ptrdiff_t>(index);
    task = std::move(*job);
    state_->blocking.erase(job);
    state_->hold_posts = hold_posts;
  }
  task();
  const std::lock_guard lock(state_->mutex);
  state_->hold_posts = false;
  return true;
}

void ManualExecutor::deliver_held_posts() {
  const std::lock_guard lock(state_->mutex);
  for (Task& task : state_->held_posts) state_->posted.push_back(std::move(task));
  state_->held_posts.clear();
  (void)::eventfd_write(state_->wake.get(), 1);
}

}  // namespace tenure::testkit
