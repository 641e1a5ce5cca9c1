// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/executor.h>
#include <tenure/store.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tenure {

/// Who runs the loop.
enum class Threads {
  library,  ///< One loop thread, a few workers and callback threads, all owned by the Runtime.
  caller,   ///< None: the caller's event loop watches fd() and calls poll().
};

struct RuntimeOptions {
  Threads threads = Threads::library;

  /// Null: system_clock(). Must outlive the runtime.
  Clock* clock = nullptr;

  /// Decides every random choice (session ids, jitter). 0: drawn from the operating system. Danger:
  /// the same seed in two processes makes equal session ids; for tests only.
  std::uint64_t seed = 0;

  /// Threads for stores that block (1 to 64), and for callbacks (1 to 64). A callback that never
  /// returns keeps its thread; when all are kept, later callbacks wait. Renewal, loss, held() and
  /// stop() never do.
  std::size_t worker_threads = 2;
  std::size_t callback_threads = 4;

  /// Told of each exception that leaves a callback (nothing else comes of it), on the thread of
  /// that callback. Null: one line on standard error.
  void (*on_exception)(const char* what) noexcept = nullptr;
};

/// Options of open_store beside the URL.
struct StoreOptions {
  /// False: do not create what is missing (for reading: status, watch, doctor).
  bool create = true;
};

/// Owns the loop and every thread; elections and stores live on it. Make one for a process.
///
/// Caller-driven, in an epoll loop (examples/epoll.cc):
///   auto rt = tenure::Runtime::create({.threads = tenure::Threads::caller});
///   watch((*rt)->fd(), EPOLLIN, [&] { (*rt)->poll(); });
/// There stores block inside poll() (a disk write), and nothing happens between polls but that
/// held() turns false on time.
///
/// Thread-safety: everything from any thread, but poll() from one thread at a time.
class Runtime : public Executor {
 public:
  /// unavailable: no descriptors or threads left. invalid_argument: names the option.
  [[nodiscard]] static Result<std::unique_ptr<Runtime>> create(RuntimeOptions options = {});

  /// Stops the loop and joins its threads; queued tasks are destroyed without being run, and
  /// elections should have been stopped before. A callback, or a request of a store to a disk, that
  /// has not returned after a second is abandoned with its thread; such a callback must not touch
  /// the runtime any more, while elections and stores may outlive it. In a forked child: does
  /// nothing, as does everything else there.
  ~Runtime() override = default;

  /// Opens `sqlite:PATH`, `memory:NAME`, ... (docs/stores/). Empty: the default store,
  /// sqlite in the user's state folder. invalid_argument: not a store URL (says what is accepted);
  /// unsupported: not built in, or a network file system; else what the store itself says.
  /// Nothing is created or changed on any error.
  [[nodiscard]] virtual Result<std::shared_ptr<LeaseStore>> open_store(
      std::string_view url, StoreOptions options = {}) = 0;

  /// Caller-driven mode: readable when poll() has something to do. -1 with library threads.
  [[nodiscard]] virtual int fd() const noexcept = 0;

  /// Caller-driven mode: does what is due and returns how many tasks that were, without waiting.
  /// It does a bounded number; the rest keeps fd() readable. From within a task: does nothing,
  /// returns 0. With library threads: 0.
  virtual std::size_t poll() = 0;

  /// Runs `task` on a callback thread (caller-driven: inside poll()), for code of users. All
  /// signals but those of faults are blocked there, and a process that it starts inherits that.
  virtual void call_back(Task task) = 0;

  /// Which mode this is.
  [[nodiscard]] virtual Threads threads() const noexcept = 0;
};

}  // namespace tenure
