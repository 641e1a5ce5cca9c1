// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include "runtime/loop.h"
#include "runtime/run_callback.h"
#include "runtime/run_task.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/random.h>
#include <utility>

namespace tenure::runtime {
namespace {

// Bounds of one poll(): tasks of the loop are short, blocking ones write to disks, and what users'
// code does nobody knows.
constexpr std::size_t kMostTasks = 256;
constexpr std::size_t kMostBlocking = 8;
constexpr std::size_t kMostCallbacks = 8;

constexpr std::chrono::milliseconds kPatience{1000};

Result<std::uint64_t> seed_of(const RuntimeOptions& options) {
  if (options.seed != 0) return options.seed;
  std::uint64_t seed = 0;
  ssize_t got = -1;
  do {
    got = ::getrandom(&seed, sizeof seed, 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof seed)) {
    return fail(Errc::unavailable, std::string("no random number: ") + std::strerror(errno));
  }
  return seed;
}

}  // namespace

void Engine::InlineQueue::push(Task task) {
  const std::lock_guard lock(mutex_);
  if (!ended_) tasks_.push_back(std::move(task));
}

void Engine::InlineQueue::end() noexcept {
  std::deque<Task> doomed;
  const std::lock_guard lock(mutex_);
  ended_ = true;
  doomed.swap(tasks_);
}

bool Engine::InlineQueue::empty() const {
  const std::lock_guard lock(mutex_);
  return tasks_.empty();
}

std::size_t Engine::InlineQueue::run(std::size_t most) {
  std::size_t ran = 0;
  for (; ran < most; ++ran) {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      if (tasks_.empty()) break;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    run_task(std::move(task));
  }
  return ran;
}

Result<std::shared_ptr<Engine>> Engine::create(const RuntimeOptions& options) {
  const auto seed = seed_of(options);
  if (!seed) return tl::unexpected(seed.error());
  Clock& clock = options.clock != nullptr ? *options.clock : system_clock();
  auto loop = Loop::create(clock);
  if (!loop) return tl::unexpected(loop.error());
  std::shared_ptr<Engine> engine(new Engine(options, clock, std::move(*loop), *seed));
  if (auto started = engine->start(); !started) {
    engine->shut_down();
    return tl::unexpected(started.error());
  }
  return engine;
}

Engine::Engine(const RuntimeOptions& options, Clock& clock, std::shared_ptr<Loop> loop,
               std::uint64_t seed)
    : threads_(options.threads),
      on_exception_(options.on_exception),
      clock_(clock),
      loop_(std::move(loop)),
      random_(seed),
      renew_phase_(static_cast<Duration::rep>(random_.next() >> 2U)),
      workers_("tenure-work", options.worker_threads),
      callbacks_("tenure-call", options.callback_threads) {}

Engine::~Engine() { shut_down(); }

Result<void> Engine::start() {
  if (threads_ == Threads::caller) return {};
  auto thread = start_thread("tenure-loop", [self = shared_from_this()] {
    self->loop_->run();
    // Nobody waits for this thread if it is the one that destroyed the runtime.
    if (self->shut_down_.load()) self->loop_->close();
  });
  if (!thread) return tl::unexpected(thread.error());
  loop_thread_ = std::move(*thread);
  if (auto started = workers_.start(shared_from_this()); !started) return started;
  return callbacks_.start(shared_from_this());
}

void Engine::post(Task task) {
  if (!in_forked_child()) loop_->post(std::move(task));
}

void Engine::run_blocking(Task task) {
  if (in_forked_child()) return;
  if (threads_ == Threads::library) return workers_.run(std::move(task));
  inline_blocking_.push(std::move(task));
  loop_->wake();
}

void Engine::call_back(Task task) {
  if (in_forked_child()) return;
  Task guarded = [task = std::move(task), report = on_exception_] { run_callback(task, report); };
  if (threads_ == Threads::library) return callbacks_.run(std::move(guarded));
  inline_callbacks_.push(std::move(guarded));
  loop_->wake();
}

std::unique_ptr<Executor::Handle> Engine::at(Instant when, Task task) {
  if (in_forked_child()) return std::make_unique<Handle>();
  return loop_->at(when, std::move(task));
}

Result<std::unique_ptr<Executor::Handle>> Engine::on_readable(int fd, Task task) {
  if (in_forked_child()) return fail(Errc::closed, "this process was forked from the runtime's");
  return loop_->on_readable(fd, std::move(task));
}

std::uint64_t Engine::random() noexcept {
  const std::lock_guard lock(random_mutex_);
  return random_.next();
}

int Engine::fd() const noexcept { return threads_ == Threads::caller ? loop_->fd() : -1; }

bool Engine::on_loop() const noexcept {
  return loop_->on_loop() || poll_thread_.load() == std::this_thread::get_id();
}

bool Engine::in_forked_child() const noexcept { return loop_->in_forked_child(); }

std::size_t Engine::poll() {
  if (threads_ == Threads::library || in_forked_child()) return 0;
  // From within a task, or from a second thread: the poll() that is under way does the work.
  if (polling_.exchange(true)) return 0;
  poll_thread_.store(std::this_thread::get_id());
  const std::size_t ran = poll_rounds();
  poll_thread_.store(std::thread::id());
  // Destroyed by a task of this poll(): the loop could not be taken down under its own feet.
  if (loop_->ended()) loop_->close();
  polling_.store(false);
  return ran;
}

std::size_t Engine::poll_rounds() {
  std::size_t tasks = 0;
  std::size_t blocking = 0;
  std::size_t callbacks = 0;
  std::size_t before = 0;
  std::size_t ran = 0;
  do {
    before = ran;
    tasks += loop_->run_once(kMostTasks - tasks);
    blocking += inline_blocking_.run(kMostBlocking - blocking);
    callbacks += inline_callbacks_.run(kMostCallbacks - callbacks);
    ran = tasks + blocking + callbacks;
  } while (ran != before && tasks < kMostTasks && !loop_->ended());
  if (!inline_blocking_.empty() || !inline_callbacks_.empty()) loop_->wake();
  return ran;
}

void Engine::shut_down() noexcept {
  if (in_forked_child() || shut_down_.exchange(true)) return;
  loop_->end();
  workers_.end();
  callbacks_.end();
  inline_blocking_.end();
  inline_callbacks_.end();
  const RealTime limit = real_time_after(kPatience);
  if (loop_thread_.joinable()) {
    if (on_loop()) {
      loop_thread_.detach();
    } else {
      loop_thread_.join();
    }
  }
  workers_.join_until(limit);
  callbacks_.join_until(limit);
  if (!on_loop()) loop_->close();
}

}  // namespace tenure::runtime
