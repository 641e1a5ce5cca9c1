// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include "runtime/run_task.h"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <utility>
#include <vector>

namespace tenure::runtime {
namespace {

sigset_t all_but_faults() noexcept {
  sigset_t set;
  ::sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
    ::sigdelset(&set, fault);
  }
  return set;
}

}  // namespace

Result<std::thread> start_thread(const char* name, std::function<void()> body) {
  // A new thread inherits the mask, so that there is no moment in which it takes a signal.
  const sigset_t blocked = all_but_faults();
  sigset_t former;
  ::pthread_sigmask(SIG_SETMASK, &blocked, &former);
  Result<std::thread> thread;
  try {
    thread = std::thread([name, body = std::move(body)] {
      ::pthread_setname_np(::pthread_self(), name);
      body();
    });
  } catch (const std::system_error& error) {
    thread = fail(Errc::unavailable, std::string("cannot start a thread: ") + error.what());
  }
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return thread;
}

struct ThreadPool::State {
  struct Slot {
    std::thread thread;
    bool finished = false;
  };

  const char* name = nullptr;
  std::size_t most = 0;

  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::size_t busy = 0;
  std::deque<Task> queue;
  std::vector<Slot> slots;
  std::shared_ptr<const void> kept;
};

ThreadPool::ThreadPool(const char* name, std::size_t most_threads)
    : state_(std::make_shared<State>()) {
  state_->name = name;
  state_->most = most_threads;
}

ThreadPool::~ThreadPool() {
  end();
  join_until(RealTime::min());
}

Result<void> ThreadPool::start(std::shared_ptr<const void> kept) {
  const std::lock_guard lock(state_->mutex);
  state_->kept = std::move(kept);
  return add_thread(state_);
}

// The caller holds the lock.
Result<void> ThreadPool::add_thread(const std::shared_ptr<State>& state) {
  const std::size_t slot = state->slots.size();
  auto thread =
      start_thread(state->name, [state, kept = state->kept, slot] { work(*state, slot); });
  if (!thread) return tl::unexpected(thread.error());
  state->slots.push_back({std::move(*thread), false});
  return {};
}

void ThreadPool::work(State& state, std::size_t slot) {
  std::unique_lock lock(state.mutex);
  while (true) {
    state.changed.wait(lock, [&state] { return state.ended || !state.queue.empty(); });
    if (state.ended) break;
    Task task = std::move(state.queue.front());
    state.queue.pop_front();
    ++state.busy;
    lock.unlock();
    run_task(std::move(task));
    lock.lock();
    --state.busy;
  }
  state.slots[slot].finished = true;
  state.changed.notify_all();
}

void ThreadPool::run(Task task) {
  const std::lock_guard lock(state_->mutex);
  if (state_->ended) return;
  state_->queue.push_back(std::move(task));
  const std::size_t idle = state_->slots.size() - state_->busy;
  if (state_->queue.size() > idle && state_->slots.size() < state_->most) {
    // Without another thread the task waits for one of those that are there.
    (void)add_thread(state_);
  }
  state_->changed.notify_one();
}

void ThreadPool::end() noexcept {
  std::deque<Task> doomed;
  const std::lock_guard lock(state_->mutex);
  state_->ended = true;
  doomed.swap(state_->queue);
  state_->kept.reset();
  state_->changed.notify_all();
}

std::size_t ThreadPool::join_until(RealTime limit) noexcept {
  std::size_t abandoned = 0;
  std::unique_lock lock(state_->mutex);
  for (auto& slot : state_->slots) {
    if (!slot.thread.joinable()) continue;
    const bool own = slot.thread.get_id() == std::this_thread::get_id();
    const bool finished =
        !own && state_->changed.wait_until(lock, limit, [&slot] { return slot.finished; });
    if (finished) {
      lock.unlock();
      slot.thread.join();
      lock.lock();
    } else {
      slot.thread.detach();
      ++abandoned;
    }
  }
  return abandoned;
}

}  // namespace tenure::runtime
