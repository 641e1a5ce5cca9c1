// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/error.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace tenure {

/// What a store may ask of the loop that drives it. tenure::Runtime hands one to every store it
/// opens; tenure::testkit::ManualExecutor is the deterministic one for tests. A store that follows
/// these rules works unchanged with library threads, in caller-driven mode and in a test:
/// it starts no thread of its own, never blocks on the loop, and reads no clock but this one.
///
/// All tasks run without exceptions leaving them. Whatever is still queued when the executor ends
/// is destroyed without being run.
///
/// Thread-safety: every function may be called from any thread; tasks given to post(), at() and
/// on_readable() run one at a time, on the loop.
class Executor {
 public:
  using Task = std::function<void()>;

  /// Something that goes on until its handle is destroyed (a timer, a watched descriptor). Destroy
  /// it on the loop: afterwards its task is not called again. Destroying it from within its own
  /// task is allowed.
  class Handle {
   public:
    virtual ~Handle() = default;
  };

  virtual ~Executor() = default;

  /// The clock that this executor's timers are counted on.
  [[nodiscard]] virtual Clock& clock() noexcept = 0;

  /// Runs `task` on the loop, after everything posted before. Never runs it inline.
  virtual void post(Task task) = 0;

  /// Runs `task` where it may block (a file system, a database): on a worker thread, or, in
  /// caller-driven mode, inside poll(). Tasks may run in parallel and in any order.
  virtual void run_blocking(Task task) = 0;

  /// Runs `task` once on the loop when clock().now() has reached `when`; kNever: not at all.
  [[nodiscard]] virtual std::unique_ptr<Handle> at(Instant when, Task task) = 0;

  /// Runs `task` on the loop each time `fd` is readable. The descriptor stays the caller's and must
  /// outlive the handle. Errc::unavailable if the system refuses to watch it. Where that shows only
  /// after the call, made from another thread, `task` is called ten times a second until it can be
  /// watched, to find the fault out for itself: a call may find nothing to read.
  [[nodiscard]] virtual Result<std::unique_ptr<Handle>> on_readable(int fd, Task task) = 0;

  /// 64 bits from the executor's seeded stream, for session ids. Not for secrets. Thread-safe.
  [[nodiscard]] virtual std::uint64_t random() noexcept = 0;
};

}  // namespace tenure
