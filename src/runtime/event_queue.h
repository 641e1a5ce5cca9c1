// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/events.h>

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

namespace tenure::runtime {

/// The bounded stream of include/tenure/events.h. However slowly it is read, push() neither waits
/// nor fails, at most `capacity` events are kept, the newest state of every kind is among them, and
/// a reader sees each term whole (Elected, then Lost) or counted in `folded_terms`.
/// Thread-safe. In a forked child it does nothing: the descriptor there is the parent's.
class EventQueue {
 public:
  static constexpr std::size_t kLeastCapacity = 8;

  /// A capacity below kLeastCapacity is raised to it: state that may not be dropped needs that.
  explicit EventQueue(std::size_t capacity) noexcept;
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue();

  /// Adds the newest event. After Stopped: ignored.
  void push(Event event);

  /// Takes the oldest event.
  [[nodiscard]] std::optional<Event> pop();

  [[nodiscard]] bool empty() const;

  /// Readable while events are unread. Made on first use; -1 if that fails, then tried again.
  [[nodiscard]] int fd();

 private:
  using Events = std::list<Event>;

  void replace_older();
  void shrink();
  void erase(Events::iterator event);

  const std::size_t capacity_;
  const volatile unsigned char* const in_parent_;
  mutable std::mutex mutex_;
  Events events_;
  std::optional<Events::iterator> holder_;  // the unread HolderChanged
  std::vector<Events::iterator> troubles_;  // the unread Troubles, in order
  bool stopped_ = false;
  int fd_ = -1;
};

}  // namespace tenure::runtime
