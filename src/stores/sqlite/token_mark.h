// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::sqlite {

/// What is known of the numbers that were handed out, beside what the database says: should its log
/// be lost, the database is an old one, and its counter would hand out the same numbers again.
///
/// Two numbers, because a sync for each hand-over would double its price. `last` is as good as the
/// memory of the running system, so it counts in the boot that wrote it and is exact there; a power
/// cut may lose it. `limit` is on the disk before a number above the former limit is handed out,
/// so it counts in every boot; numbers that follow it skip some, once a boot.
struct TokenMark {
  std::uint64_t boot = 0;
  std::uint64_t last = 0;
  std::uint64_t limit = 0;

  /// No number above this one has been handed out.
  [[nodiscard]] std::uint64_t floor(std::string_view boot_id) const noexcept;

  /// To be called before `number` is handed out. True: the mark must reach the disk first.
  [[nodiscard]] bool note(std::uint64_t number, std::string_view boot_id) noexcept;
};

/// The mark in a lock file; zeros if there is none, or a damaged one.
[[nodiscard]] TokenMark read_mark(int fd) noexcept;

/// Writes it, to the disk if asked to. `path` is for the error.
[[nodiscard]] Result<void> write_mark(int fd, const TokenMark& mark, bool durable,
                                      const std::string& path);

}  // namespace tenure::sqlite
