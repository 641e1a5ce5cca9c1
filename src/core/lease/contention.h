// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <cstdint>
#include <vector>

namespace tenure::core {

struct ContentionTerms {
  std::uint32_t rewrites = 5;
  Duration window = std::chrono::minutes(1);
  Duration quiet = std::chrono::minutes(5);
  std::uint32_t most = 20;
  Duration forget_after = std::chrono::hours(24);
};

/// The fight over one key, as one of the fighters sees it. Knows no values: it is told whether what
/// was seen is foreign. Time must not go back. One thread at a time.
class Contention {
 public:
  /// Something foreign was seen. True if that made the key contended.
  bool on_foreign(const ContentionTerms& terms, Instant now);

  /// What this process wants has changed in earnest.
  void on_new_wish(Instant now) noexcept;

  /// It is used: not to be forgotten before it has been quiet from now.
  void touch(Instant now) noexcept { last_ = now; }

  /// Whether work must stand still at `now`.
  [[nodiscard]] bool contended(Instant now) const noexcept { return now < until_; }

  /// From when on it may be forgotten if nothing more happens; kNever if silence counts no more.
  [[nodiscard]] Instant forgettable(const ContentionTerms& terms) const noexcept;

 private:
  [[nodiscard]] bool on_trial(const ContentionTerms& terms, Instant now) const noexcept;

  std::vector<Instant> foreign_;  ///< When, within the window; fewer than `rewrites`.
  Instant until_ = kLongAgo;      ///< Contended until then.
  Duration pause_{};              ///< How long it was contended last; doubles.
  std::uint32_t lost_ = 0;        ///< Foreign rewrites since all was well.
  Instant last_foreign_ = kLongAgo;
  Instant last_ = kLongAgo;
};

}  // namespace tenure::core
