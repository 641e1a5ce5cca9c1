// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/timer_queue.h"

#include "runtime/run_task.h"

#include <algorithm>

namespace tenure::runtime {

TimerQueue::Key TimerQueue::add(Instant when, Task task) {
  // Never before those that are overdue already: a task that adds itself again for the past would
  // be the first for ever.
  const Instant due = std::max(when, clock_.now());
  const std::lock_guard lock(mutex_);
  const Key key{due, next_age_++};
  if (ended_ || when == kNever) return key;
  tasks_.emplace(key, std::move(task));
  if (due < armed_) {
    armed_ = due;
    timer_->arm(due);
  }
  return key;
}

void TimerQueue::remove(const Key& key) noexcept {
  std::map<Key, Task>::node_type removed;
  const std::lock_guard lock(mutex_);
  removed = tasks_.extract(key);
}

std::size_t TimerQueue::count_due(Instant now) const {
  const std::lock_guard lock(mutex_);
  std::size_t due = 0;
  for (const auto& [key, task] : tasks_) {
    if (key.first > now) break;
    ++due;
  }
  return due;
}

TimerQueue::Task TimerQueue::take_due(Instant now) {
  const std::lock_guard lock(mutex_);
  if (tasks_.empty() || tasks_.begin()->first.first > now) return {};
  return std::move(tasks_.extract(tasks_.begin()).mapped());
}

std::size_t TimerQueue::run_due(std::size_t most, const std::function<bool()>& go_on) {
  const Instant now = clock_.now();
  const std::size_t due = std::min(count_due(now), most);
  std::size_t ran = 0;
  for (; ran < due && go_on(); ++ran) {
    Task task = take_due(now);
    if (!task) break;
    run_task(std::move(task));
  }
  const std::lock_guard lock(mutex_);
  armed_ = tasks_.empty() ? kNever : tasks_.begin()->first.first;
  timer_->arm(armed_);
  return ran;
}

void TimerQueue::end() noexcept {
  std::map<Key, Task> doomed;
  const std::lock_guard lock(mutex_);
  ended_ = true;
  doomed.swap(tasks_);
}

}  // namespace tenure::runtime
