// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>

namespace tenure {

namespace detail {

/// Not 0 in the process that asks, 0 in every child that is forked from it later: one byte in a
/// page that the kernel wipes on fork (MADV_WIPEONFORK), so it costs the parent nothing. 0 for good
/// after a fatal fault. A child that asks itself gets a byte of its own.
[[nodiscard]] const volatile unsigned char* fork_guard() noexcept;

/// What all copies of one term's Leadership share.
struct Term {
  Term(const Clock& clock_in, std::uint64_t token_in) noexcept : clock(clock_in), token(token_in) {}

  const Clock& clock;
  const std::uint64_t token;
  const volatile unsigned char* const in_parent = fork_guard();
  /// The instant from which this process must not act as leader, in boot-time nanoseconds.
  std::atomic<Duration::rep> deadline_ns{kLongAgo.time_since_epoch().count()};
  std::stop_source stop;
};

}  // namespace detail

/// One term of leadership, as the work that depends on it sees it.
///
///   election.lead([&](tenure::Leadership term) {
///     while (term.held() && !term.stop_token().stop_requested()) {
///       accounts.write(next_row(), term.token());   // the resource refuses smaller tokens
///     }
///   });
///
/// THE GUARANTEE: no two processes see held() true for one election at the same instant, whatever
/// the network, pauses or crashes do, if clock rates differ by no more than `drift`.
/// NOT PROMISED: that work already begun has ended when held() turns false. A process that is
/// paused right after asking wakes up later and writes; only the resource itself can refuse that,
/// by checking token(). See docs/guarantees.md.
///
/// A small handle, cheap to copy; it outlives the election. Default-constructed: never held.
///
/// Thread-safety: every function may be called from any thread, also at once.
class Leadership {
 public:
  Leadership() = default;
  explicit Leadership(std::shared_ptr<detail::Term> term) noexcept : term_(std::move(term)) {}

  /// Whether this process is the one, now. A pure function of the clock and one atomic deadline: it
  /// turns false on time even if every thread of the library is stalled, and once false it stays
  /// false. False in a forked child. Costs about one clock read.
  [[nodiscard]] bool held() const noexcept { return remaining() > Duration::zero(); }

  /// How long held() stays true if no renewal succeeds from now on; zero when it is false.
  [[nodiscard]] Duration remaining() const noexcept {
    if (!term_ || *term_->in_parent == 0) return Duration::zero();
    const Duration deadline(term_->deadline_ns.load(std::memory_order_acquire));
    const Duration now = term_->clock.now().time_since_epoch();
    return deadline > now ? deadline - now : Duration::zero();
  }

  /// The instant at which held() turns false, as known now; kLongAgo once the term has ended.
  [[nodiscard]] Instant deadline() const noexcept {
    return term_ ? Instant(Duration(term_->deadline_ns.load(std::memory_order_acquire))) : kLongAgo;
  }

  /// The fencing token of this term: larger than that of every earlier term of the election. Hand
  /// it along with each write. 0 for a default-constructed Leadership.
  [[nodiscard]] std::uint64_t token() const noexcept { return term_ ? term_->token : 0; }

  /// Asked to stop when work should end: `grace` before the deadline if renewals fail, at once on
  /// yield, stop, deletion or takeover. Stop callbacks run on a callback thread of the library.
  [[nodiscard]] std::stop_token stop_token() const noexcept {
    return term_ ? term_->stop.get_token() : std::stop_token();
  }

 private:
  std::shared_ptr<detail::Term> term_;
};

}  // namespace tenure
