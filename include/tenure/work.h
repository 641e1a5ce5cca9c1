// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/unique_function.h>

#include <cstdint>

namespace tenure {

/// What running a piece of work says about who the writer is.
enum class WorkEffect : std::uint8_t {
  /// Nothing: there was nothing to write, or it is not known. The lease stays as it is.
  none,
  /// The write was made and accepted: this process leads, from now for one lease.
  extend,
  /// Another writer was in the way (a conflict, a newer version, a refusal): stand back.
  release,
};

/// What a piece of work answers: its effect on the lease, and whether it is to be run again.
///
///     return {WorkEffect::extend};              // written, done
///     return {WorkEffect::release};             // conflict; the other has written it, drop it
///     return {WorkEffect::release, true};       // conflict; look again later
///     return {WorkEffect::none, true};          // the network failed: neither lost nor won
///
/// `retry`: run the key's newest work again after the retry interval, and, where this process
/// follows then, not before the lease has expired.
struct WorkResult {
  WorkEffect effect = WorkEffect::none;
  bool retry = false;

  bool operator==(const WorkResult&) const = default;
};

/// A piece of work: called on a worker thread (caller-driven: inside poll()), and again for each
/// retry. It may throw; that counts as {release, retry} and is reported. Move-only, so it may own
/// what it needs. It is destroyed as soon as it is done, replaced, removed or seen done elsewhere.
using Work = UniqueFunction<WorkResult()>;

/// Where a writer lease stands.
enum class WriterState : std::uint8_t {
  electing,   ///< No result yet: work runs at once, and the first result decides.
  leading,    ///< Our writes succeed: work runs at once.
  following,  ///< Another writes: work waits until the lease has expired.
};

/// What a writer lease has counted since it was made. Once nothing runs, every piece of work is
/// accounted for:
///     submitted = done + replaced + seen_elsewhere + removed + abandoned + pending
struct WriterCounters {
  std::uint64_t submitted = 0;       ///< Pieces taken by try_work().
  std::uint64_t done = 0;            ///< Pieces that ran and wanted no retry.
  std::uint64_t replaced = 0;        ///< Pieces that gave way to newer work of their key.
  std::uint64_t seen_elsewhere = 0;  ///< Pieces dropped by extend().
  std::uint64_t removed = 0;         ///< Pieces dropped by remove().
  std::uint64_t abandoned = 0;       ///< Pieces that waited when stop() came.
  std::uint64_t runs = 0;            ///< Calls of work.
  std::uint64_t retries = 0;         ///< Runs that ended in another run to come.
  std::uint64_t probes = 0;          ///< Runs by a follower whose lease had expired.
  std::uint64_t threw = 0;           ///< Runs that ended in an exception.
  std::uint64_t state_changes = 0;   ///< Changes between electing, leading and following.
};

/// Wraps `work` so that it is run at most `retries` + 1 times, whatever it answers: its last run's
/// retry is ignored, its effect counts. An exception passes through and is reported as always. Of
/// empty work it makes empty work, which try_work() refuses.
///
///     lease->try_work("node-7", limit_retries(3, [..] { return push_status(); }));
[[nodiscard]] Work limit_retries(std::uint32_t retries, Work work);

}  // namespace tenure
