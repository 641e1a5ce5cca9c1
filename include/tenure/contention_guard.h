// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/error.h>
#include <tenure/time.h>
#include <tenure/work.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenure {

/// How a contention guard behaves.
struct ContentionGuardOptions {
  /// How many foreign rewrites of a key make it contended. 1 to 1000. Danger: with 1, a single
  /// late sight of another's value stops the key.
  std::uint32_t rewrites = 5;

  /// Within how long they must come. More than 0.
  Duration window = std::chrono::minutes(1);

  /// How long nothing foreign must be seen before a key is forgotten, and a contended one may be
  /// tried again. Each time it then proves contended again, twice as long as the time before.
  /// More than 0.
  Duration quiet = std::chrono::minutes(5);

  /// How many tries after silence may be overwritten in a row. Then silence counts no more: the key
  /// stays contended until this process wants something else for it, or forget(). 10 with a quiet
  /// of 5 minutes is a week. 0 to 1000; 0: silence never counts. Danger of a small number: a
  /// disagreement that ends by itself, as in a slow roll-out, is not noticed.
  std::uint32_t trials = 10;

  /// Whether two values mean the same: the caller leaves out what does not matter (timestamps,
  /// the writer's own name). Empty: all bytes are compared. Called without any lock.
  std::function<bool(std::string_view, std::string_view)> same{};

  /// Told once each time a key becomes contended, on the thread that called observed(), without any
  /// lock: perhaps by several threads at once. Must not throw. May be empty.
  std::function<void(std::string_view key)> on_contended{};

  /// Null: system_clock(). Must outlive the guard.
  Clock* clock = nullptr;
};

/// Ends the endless fight of replicas that DISAGREE about what to write, where each sees the
/// other's value as wrong and puts its own back for ever. A writer lease cannot see that: each of
/// their writes succeeds. Tell the guard what is written and what is seen:
///
///     auto guard = ContentionGuard::create({});
///     lease.try_work(key, guard->guard(key, wanted, [=] { return put(key, wanted); }));
///     on_watch([&](auto& key, auto& value) {
///       if (guard->observed(key, value)) lease.extend(key); });   // true: it is what we want
///
/// After `rewrites` foreign values within `window` the key is contended: guarded work is not run
/// but waits (it answers "none, retry"), so that it is not lost. It goes on when this process wants
/// something else for the key, or when the others have been silent for `quiet`. Silence may just
/// mean that the others stopped too; so when a try after silence is overwritten again, the key is
/// contended at once, for twice as long, and after `trials` of these silence counts no more. So in
/// such a fight a process writes a key at most `rewrites` + `trials` times for each value that it
/// wants, however long the others insist. A fight slower than `rewrites` in a `window` is none.
///
/// Not promised: that the values agree in the end. People must settle who is right; see
/// on_contended and contended().
///
/// A moved-from guard may only be assigned or destroyed. Work made by guard() may outlive it.
///
/// Thread-safety: all may be called from any thread at any time, but move and destruction.
class ContentionGuard {
 public:
  /// invalid_argument: names the option, its value and what is accepted.
  [[nodiscard]] static Result<ContentionGuard> create(ContentionGuardOptions options = {});

  ~ContentionGuard();
  ContentionGuard(ContentionGuard&&) noexcept;
  ContentionGuard& operator=(ContentionGuard&&) noexcept;
  ContentionGuard(const ContentionGuard&) = delete;
  ContentionGuard& operator=(const ContentionGuard&) = delete;

  /// This process wants `key` to be `value`, and asks whether it may write it now. A value that is
  /// not the same as the one it wanted before starts afresh: true.
  [[nodiscard]] bool may_write(std::string_view key, std::string_view value);

  /// This process has written `value`. As may_write(), it says what is wanted.
  void wrote(std::string_view key, std::string_view value);

  /// `value` was seen. True if it is the same as what this process wants: then there is nothing to
  /// write, and the others agree. False, and counted as a foreign rewrite, if it is not; false
  /// without being counted if nothing is known to be wanted. Tell each change once.
  bool observed(std::string_view key, std::string_view value);

  /// `work` for a writer lease that asks may_write() each time before it runs, and says wrote()
  /// when it answered extend. While the key is contended it answers {none, retry} instead.
  [[nodiscard]] Work guard(std::string_view key, std::string_view value, Work work);

  /// Forgets all about a key: it is deleted, or a person has settled the matter.
  void forget(std::string_view key);

  [[nodiscard]] bool is_contended(std::string_view key) const;

  /// The keys that are contended now, sorted.
  [[nodiscard]] std::vector<std::string> contended() const;

  /// Keys that something is remembered about. Quiet ones are forgotten as time passes; those that
  /// have used up their `trials` are kept until forget().
  [[nodiscard]] std::size_t size() const;

  struct State;  ///< Of the implementation.

 private:
  explicit ContentionGuard(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace tenure
