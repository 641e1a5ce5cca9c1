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

  /// How long nothing foreign must be seen before a contended key is tried again. Each time it then
  /// proves contended again, twice as long as the time before. More than 0.
  Duration quiet = std::chrono::minutes(5);

  /// How many foreign rewrites there may be in all, however slowly they come, without a change of
  /// what this process wants. Then silence counts no more: the key stays contended until this
  /// process wants something else for it, or forget(). `rewrites` to 1,000,000; 0: 4 x `rewrites`.
  /// Danger: small: a disagreement that ends by itself, as in a slow roll-out, is not noticed.
  std::uint32_t most = 0;

  /// How long after the last foreign rewrite, unless it is contended, a key begins to count anew;
  /// and how long a key that is not used is remembered. More than 0. Danger: short: a fight that is
  /// slower than this has no end; long: what people edit by hand, now and then, adds up to a fight.
  Duration forget_after = std::chrono::hours(24);

  /// Whether two values mean the same: the caller leaves out what does not matter (timestamps,
  /// the writer's own name). Empty: all bytes are compared. Called without any lock. One that
  /// throws is reported on standard error, and all bytes are compared then.
  std::function<bool(std::string_view, std::string_view)> same{};

  /// Told once each time a key becomes contended, on the thread that called observed(), without any
  /// lock: perhaps by several threads at once. Reported on standard error if it throws. May be
  /// empty.
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
/// contended at once, for twice as long. And after `most` foreign values, however slowly they come,
/// silence counts no more. So for each value that it wants, a process is overwritten `most` times
/// and writes little more often, however long the others insist.
///
/// Not promised: that the values agree in the end. People must settle who is right; see
/// on_contended and contended().
///
/// A moved-from guard may only be assigned or destroyed. Work made by guard() may outlive it.
///
/// Thread-safety: all may be called from any thread at any time, but move and destruction. Not for
/// use in a forked child.
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

  /// This process has written `value`. As may_write(), it says what is wanted. What was written
  /// is known again when it is seen late, after something else has come to be wanted.
  void wrote(std::string_view key, std::string_view value);

  /// `value` was seen. True if it is the same as what this process wants: then there is nothing to
  /// write, and the others agree. False, and counted as a foreign rewrite, if it is not; false
  /// without being counted if it is an earlier value that this process wrote itself (each write
  /// once, and the last 16 values), or nothing is known to be wanted. Tell each change once.
  bool observed(std::string_view key, std::string_view value);

  /// `work` for a writer lease; says at once that `value` is wanted. When it is to run: if
  /// something else has come to be wanted meanwhile, it answers {none}, since newer work is there
  /// or to come; if the key is contended, {none, retry}; else `work` runs, and what it has written
  /// is remembered if it answers extend. Of empty work it makes empty work.
  [[nodiscard]] Work guard(std::string_view key, std::string_view value, Work work);

  /// Forgets all about a key: it is deleted, or a person has settled the matter.
  void forget(std::string_view key);

  [[nodiscard]] bool is_contended(std::string_view key) const;

  /// The keys that are contended now, sorted.
  [[nodiscard]] std::vector<std::string> contended() const;

  /// Keys that something is remembered about. Those that are not used are forgotten as time passes;
  /// those that `most` has stopped are kept until forget().
  [[nodiscard]] std::size_t size() const;

  struct State;  ///< Of the implementation.

 private:
  explicit ContentionGuard(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace tenure
