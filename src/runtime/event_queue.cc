// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/event_queue.h"

#include "core/check.h"

#include <algorithm>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace tenure::runtime {
namespace {

template <class Body>
bool is(const Event& event) noexcept {
  return std::holds_alternative<Body>(event.body);
}

bool same_kind(const Trouble& a, const Trouble& b) noexcept {
  return a.error.code == b.error.code && a.recovered == b.recovered && a.of_work == b.of_work;
}

}  // namespace

EventQueue::EventQueue(std::size_t capacity) noexcept
    : capacity_(std::max(capacity, kLeastCapacity)), in_parent_(detail::fork_guard()) {}

EventQueue::~EventQueue() {
  if (fd_ >= 0) ::close(fd_);
}

void EventQueue::push(Event event) {
  if (*in_parent_ == 0) return;
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  stopped_ = is<Stopped>(event);
  events_.push_back(std::move(event));
  replace_older();
  if (events_.size() > capacity_) shrink();
  if (events_.size() == 1 && fd_ >= 0) ::eventfd_write(fd_, 1);
}

// The newest has been added; what it makes out of date goes.
void EventQueue::replace_older() {
  const auto newest = std::prev(events_.end());
  if (is<HolderChanged>(*newest)) {
    if (holder_) erase(*holder_);
    holder_ = newest;
  } else if (const auto* trouble = std::get_if<Trouble>(&newest->body)) {
    const auto older = std::find_if(troubles_.begin(), troubles_.end(), [trouble](auto event) {
      return same_kind(std::get<Trouble>(event->body), *trouble);
    });
    if (older != troubles_.end()) {
      erase(*older);
      troubles_.erase(older);
    }
    troubles_.push_back(newest);
  }
}

// One must go: a trouble that is not the newest, or else the oldest term that has ended. Without
// either there are at most five: a Lost whose Elected was read, the Elected of now, the holder, a
// trouble and Stopped.
void EventQueue::shrink() {
  if (troubles_.size() > 1) {
    erase(troubles_.front());
    troubles_.erase(troubles_.begin());
    return;
  }
  const auto elected = std::find_if(events_.begin(), events_.end(), is<Elected>);
  const auto lost = std::find_if(elected, events_.end(), is<Lost>);
  TENURE_CHECK(lost != events_.end() && std::next(lost) != events_.end());
  ++std::next(lost)->folded_terms;
  erase(elected);
  erase(lost);
}

// What was folded before it was folded before its successor too.
void EventQueue::erase(Events::iterator event) {
  std::next(event)->folded_terms += event->folded_terms;
  events_.erase(event);
}

std::optional<Event> EventQueue::pop() {
  if (*in_parent_ == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (events_.empty()) return std::nullopt;
  const auto oldest = events_.begin();
  if (holder_ == oldest) holder_.reset();
  std::erase(troubles_, oldest);
  std::optional<Event> taken(std::move(*oldest));
  events_.erase(oldest);
  eventfd_t count = 0;
  if (events_.empty() && fd_ >= 0) ::eventfd_read(fd_, &count);
  return taken;
}

bool EventQueue::empty() const {
  if (*in_parent_ == 0) return true;
  const std::lock_guard lock(mutex_);
  return events_.empty();
}

int EventQueue::fd() {
  if (*in_parent_ == 0) return -1;
  const std::lock_guard lock(mutex_);
  if (fd_ < 0) fd_ = ::eventfd(events_.empty() ? 0 : 1, EFD_NONBLOCK | EFD_CLOEXEC);
  return fd_;
}

}  // namespace tenure::runtime
