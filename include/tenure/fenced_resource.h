// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace tenure {

/// Remembers the highest fencing token it has seen and refuses smaller ones: put it where writes
/// arrive (a server, a shared resource), so that a former leader that was paused and wakes up
/// cannot overwrite what its successor wrote.
///
///   tenure::FencedResource gate(load_highest_token());
///   if (auto done = gate.write(request.token, [&] { file.append(request.line); }); !done) {
///     reply(done.error().message);   // "token 7 is older than 9: ..."
///   }
///
/// It does not persist the highest token: a resource that restarts must store it with its data
/// (read highest(), or take it from the newest write) and hand it back to the constructor.
///
/// Thread-safety: every function may be called from any thread; writes are serialised.
class FencedResource {
 public:
  /// `highest`: the largest token accepted in an earlier life, 0 if none.
  explicit FencedResource(std::uint64_t highest = 0) noexcept : highest_(highest) {}

  /// Runs `action` if `token` is not smaller than any seen before, with the resource locked.
  /// conflict: a larger token has been seen; the writer's term is over and it must stop.
  /// invalid_argument: token 0, which no term has. Exceptions of `action` pass through; the token
  /// counts as seen all the same.
  template <class Action>
  [[nodiscard]] Result<void> write(std::uint64_t token, Action&& action) {
    const std::lock_guard lock(mutex_);
    if (auto admitted = admit(token); !admitted) return admitted;
    std::forward<Action>(action)();
    return {};
  }

  /// Whether `token` would be accepted now; remembers it if so. For a resource that has its own way
  /// of making check and write one step.
  [[nodiscard]] Result<void> check(std::uint64_t token) {
    const std::lock_guard lock(mutex_);
    return admit(token);
  }

  /// The largest token seen.
  [[nodiscard]] std::uint64_t highest() const noexcept {
    const std::lock_guard lock(mutex_);
    return highest_;
  }

 private:
  Result<void> admit(std::uint64_t token) {
    if (token == 0) {
      return fail(Errc::invalid_argument, "token 0 is no term's token; tokens begin at 1");
    }
    if (token < highest_) {
      return fail(Errc::conflict, "token " + std::to_string(token) + " is older than " +
                                      std::to_string(highest_) +
                                      ": a later leader has written; this term is over");
    }
    highest_ = token;
    return {};
  }

  mutable std::mutex mutex_;
  std::uint64_t highest_;
};

}  // namespace tenure
