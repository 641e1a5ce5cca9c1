// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>
#include <tenure/store.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace tenure::etcd {

/// A request of a user that has not been answered. It is answered exactly once: by whoever serves
/// it, by its limit, or when the store is closed.
class AnyAsk {
 public:
  virtual ~AnyAsk() = default;
  virtual void give_up(Error error) = 0;
  /// A write was sent for it: from now on giving up means that the outcome is unknown.
  bool in_doubt = false;
};

class Asks;

template <class T>
class Ask final : public AnyAsk {
 public:
  Ask(Asks& asks, Completion<T> done) : asks_(asks), done_(std::move(done)) {}

  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(done_); }
  void answer(Result<T> result);
  void give_up(Error error) override { answer(tl::unexpected(std::move(error))); }

 private:
  friend class Asks;
  Asks& asks_;
  Completion<T> done_;
  std::unique_ptr<Executor::Handle> limit_;
};
template <class T>
using AskPtr = std::shared_ptr<Ask<T>>;

/// All of them. Thread-safety: everything on the loop.
class Asks {
 public:
  /// `trouble` says what keeps requests from being answered, if it is known.
  Asks(Executor& executor, std::function<std::string()> trouble)
      : executor_(executor), trouble_(std::move(trouble)) {}

  /// `serve` is called from the loop later on, unless the limit has passed by then.
  template <class T>
  void add(Completion<T> done, Instant limit, std::function<void(const AskPtr<T>&)> serve) {
    auto ask = std::make_shared<Ask<T>>(*this, std::move(done));
    open_.emplace(ask.get(), ask);
    if (limit != kNever) {
      ask->limit_ = executor_.at(limit, [this, weak = std::weak_ptr(ask)] {
        const auto late = weak.lock();
        if (late == nullptr) return;
        const std::string trouble = trouble_();
        late->give_up({late->in_doubt ? Errc::outcome_unknown : Errc::unavailable,
                       "not answered within the request's limit" +
                           (trouble.empty() ? trouble : ": " + trouble)});
      });
    }
    const bool too_late = limit <= executor_.clock().now();
    executor_.post([weak = std::weak_ptr(ask), serve = std::move(serve), too_late] {
      const auto late = weak.lock();
      if (late == nullptr || !late->open()) return;
      if (!too_late) return serve(late);
      late->give_up({Errc::unavailable, "the request's limit had passed before it was sent"});
    });
  }

  /// An answer that is known at once.
  template <class T>
  void refuse(Completion<T> done, Error error) {
    executor_.post(
        [done = std::move(done), error = std::move(error)] { done(tl::unexpected<Error>(error)); });
  }

  void close() {
    for (const auto& [key, ask] : std::exchange(open_, {})) {
      ask->give_up(ask->in_doubt ? Error{Errc::outcome_unknown, "the store was closed meanwhile"}
                                 : Error{Errc::closed, "the etcd store is closed"});
    }
  }

 private:
  template <class T>
  friend class Ask;
  Executor& executor_;
  const std::function<std::string()> trouble_;
  std::unordered_map<const AnyAsk*, std::shared_ptr<AnyAsk>> open_;
};

template <class T>
void Ask<T>::answer(Result<T> result) {
  if (!done_) return;
  auto done = std::exchange(done_, nullptr);
  limit_ = nullptr;
  const auto self = asks_.open_.extract(this);
  done(std::move(result));
}

}  // namespace tenure::etcd
