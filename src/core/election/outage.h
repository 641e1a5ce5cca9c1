// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/time.h>

#include <cstdint>
#include <optional>

namespace tenure::core {

/// Decides when trouble is worth a line: at once when it begins, once for each further kind of
/// error in it, at growing intervals while it goes on, and once when it is over. Trouble that comes
/// and goes within seconds counts as one that goes on.
class Outage {
 public:
  /// A failure at `now`. Returns the error if it should be reported.
  [[nodiscard]] std::optional<Error> failed(const Error& error, Instant now);

  /// A success. Returns the last error if a reported outage ends with this.
  [[nodiscard]] std::optional<Error> recovered();

  /// The failure that goes on, if one does.
  [[nodiscard]] const std::optional<Error>& ongoing() const noexcept { return last_; }

 private:
  std::optional<Error> last_;
  bool reported_ = false;
  std::uint32_t kinds_ = 0;  // a bit for each Errc that was reported
  Instant began_at_ = kLongAgo;
  Instant last_failure_ = kLongAgo;
  Instant next_report_ = kLongAgo;
  Duration interval_{};
};

}  // namespace tenure::core
