// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>

namespace tenure::test {

/// A SQLite VFS over the usual one that can fail, and can cut the power.
///
/// It keeps count of the calls that touch the disk, so that a test can make any one of them fail;
/// and it remembers, for each file, what was on the disk at the last sync and every write since.
/// cut_power() puts the files back to what a machine may find after a power cut: what was synced,
/// and of the later writes any number, in any order, the last of them perhaps torn. Make all stores
/// on it go away before the cut.
///
/// One at a time in a process.
class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  [[nodiscard]] std::string name() const;

  /// The call with this number, counted from now and from 1, answers `result`; with `for_ever`, all
  /// later ones too. 0: none.
  void fail_at(std::uint64_t call, int result, bool for_ever);
  /// Calls since fail_at().
  [[nodiscard]] std::uint64_t calls() const;
  /// How often somebody slept to wait for a lock, since the beginning.
  [[nodiscard]] std::uint64_t sleeps() const;
  /// Whether a call was made to fail since fail_at().
  [[nodiscard]] bool has_failed() const;

  /// What would be lost is lost; `seed` decides which of the unsynced writes.
  void cut_power(std::uint64_t seed);

  struct State;  ///< Of the implementation.

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tenure::test
