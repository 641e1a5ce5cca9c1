// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/events.h>
#include <tenure/leadership.h>
#include <tenure/options.h>
#include <tenure/store.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tenure {

class Runtime;

/// Says that the work of one term has ended. Move-only; destroying it says so too. Until then a
/// term that ends on purpose is not released, and this candidate does not stand again.
/// Thread-safety: one thread at a time.
class TermEnd {
 public:
  TermEnd() = default;
  explicit TermEnd(std::function<void()> ended) noexcept : ended_(std::move(ended)) {}
  TermEnd(TermEnd&& other) noexcept : ended_(std::exchange(other.ended_, nullptr)) {}
  TermEnd& operator=(TermEnd&& other) noexcept {
    if (this != &other) {
      done();
      ended_ = std::exchange(other.ended_, nullptr);
    }
    return *this;
  }
  TermEnd(const TermEnd&) = delete;
  TermEnd& operator=(const TermEnd&) = delete;
  ~TermEnd() { done(); }

  /// The work has ended. While the term is still held this yields it. Twice is once.
  void done() {
    if (auto ended = std::exchange(ended_, nullptr)) ended();
  }

 private:
  std::function<void()> ended_;
};

/// One candidate in one election.
///
///   auto runtime = tenure::Runtime::create();
///   auto store = (*runtime)->open_store("sqlite:/var/lib/app/tenure.db");
///   auto election = tenure::Election::create(**runtime, *store, {.name = "billing"});
///   auto ended = election->lead([](tenure::Leadership term) { work_until_told_to_stop(term); });
///
/// From start() on it stands, leads, and after any loss stands again for ever, until stop(), or
/// until the store answers what waiting does not mend (see Stopped). No user code can delay it:
/// callbacks run on threads of their own, events wait in a bounded queue.
/// An election that waits costs no thread.
///
/// It does NOT promise that work has ended when held() turns false: see Leadership.
///
/// Thread-safety: every function may be called from any thread, from callbacks, in any order and
/// more than once. Movable; a moved-from Election may only be destroyed or assigned to.
class Election {
 public:
  /// Makes a candidate that does not stand yet. Touches neither the network nor the disk.
  /// invalid_argument names the option or the relation between options that is wrong.
  [[nodiscard]] static Result<Election> create(Runtime& runtime, std::shared_ptr<LeaseStore> store,
                                               ElectionOptions options);

  Election(Election&&) noexcept;
  Election& operator=(Election&&) noexcept;

  /// As stop() with a limit of `grace` plus the request limit, but never longer than a second of
  /// real time (whatever clock was handed in). Call stop() first if the work needs more.
  ~Election();

  /// Begins to stand. Errors: closed after stop(). Started twice: nothing happens.
  [[nodiscard]] Result<void> start();

  /// Registers the work: called on a callback thread of the library at the start of every term (in
  /// caller-driven mode: inside poll()). It must not block for long; hand `TermEnd` to whoever does
  /// the work and end it there. Set it before start(). Without it terms have no work to wait for.
  /// closed: too late, the election has started.
  [[nodiscard]] Result<void> on_term(std::function<void(Leadership, TermEnd)> begin);

  /// Runs `work` on the calling thread once for every term, until stop(): starts the election (call
  /// it instead of start(); closed after either), waits to be elected, calls work(leadership), and
  /// releases only after it returned.
  /// Work that returns while the term is held yields it. An exception of `work` ends the election
  /// in order and comes back as Errc::closed with its text. Not in caller-driven mode
  /// (unsupported).
  [[nodiscard]] Result<void> lead(std::function<void(Leadership)> work);

  /// Gives the term up (held() false, work told to stop, work ended, released) and lets another be
  /// elected before standing again. Not leading: nothing happens.
  void yield();

  /// Ends the election in order: held() false, work told to stop, work ended (renewing meanwhile,
  /// for `grace` at most), record released. Returns within `limit`, counted on the runtime's clock,
  /// in any case: timed_out says what had not ended; the record is then left to its ttl. Twice,
  /// before start, or from a callback: fine. From inside the work itself it cannot wait for that
  /// work: it returns at once and the rest follows. In caller-driven mode it drives the loop
  /// meanwhile; on a manual clock that nobody moves its limit does not come.
  [[nodiscard]] Result<void> stop(Duration limit);

  /// Whether this process leads now. The same as Leadership::held() of the present term.
  [[nodiscard]] bool held() const noexcept;

  /// The present term; one that is never held if there is none.
  [[nodiscard]] Leadership leadership() const;

  /// The id of the present holder as last seen, ours included; "" if the election is free.
  [[nodiscard]] std::string holder() const;

  [[nodiscard]] Phase phase() const noexcept;

  /// Takes the oldest unread event; nothing if there is none. Never blocks.
  [[nodiscard]] std::optional<Event> next_event();

  /// Waits for the next event for at most `limit`. Nothing: the limit passed, or the stream has
  /// ended (Stopped was taken). In caller-driven mode it drives the loop meanwhile.
  [[nodiscard]] std::optional<Event> wait_event(Duration limit);

  /// A descriptor that is readable while unread events exist, for the caller's own event loop. Made
  /// on first use; -1 if the process is out of descriptors. Owned by the election.
  [[nodiscard]] int event_fd();

  /// The timing in force: asked, or scaled to what the store granted last.
  [[nodiscard]] Timing timing() const;

 private:
  struct Impl;
  explicit Election(std::shared_ptr<Impl> impl) noexcept;
  std::shared_ptr<Impl> impl_;
};

/// Replaces what happens when a check inside the library fails or `Overrun::abort` strikes; every
/// term of the process has been marked lost before it is called. Default: print and abort(). If the
/// hook returns, the process is aborted. Returns the former hook. Thread-safe.
using FatalHook = void (*)(const char* what) noexcept;
FatalHook set_fatal_hook(FatalHook hook) noexcept;

}  // namespace tenure
