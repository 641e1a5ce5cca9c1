// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/election/outage.h"

#include "core/check.h"

#include <algorithm>
#include <utility>

namespace tenure::core {

namespace {
constexpr Duration kFirstReminder = std::chrono::seconds(10);
constexpr Duration kLastReminder = std::chrono::minutes(10);
}  // namespace

std::optional<Error> Outage::failed(const Error& error, Instant now) {
  if (!last_) {
    began_at_ = now;
    reported_ = false;
    // Trouble that comes back before it was quiet for a while is the same trouble.
    if (saturating_between(last_failure_, now) >= kFirstReminder) {
      kinds_ = 0;
      interval_ = kFirstReminder;
    }
  }
  last_ = error;
  last_failure_ = now;
  TENURE_CHECK(static_cast<unsigned>(error.code) < 32);
  const std::uint32_t kind = 1U << static_cast<unsigned>(error.code);
  const bool news = (kinds_ & kind) == 0;
  const bool lasts = !reported_ && saturating_between(began_at_, now) >= kFirstReminder;
  if (!news && !lasts && now < next_report_) return std::nullopt;
  if (!news) interval_ = std::min(interval_ * 2, kLastReminder);
  kinds_ |= kind;
  reported_ = true;
  TENURE_CHECK(interval_ >= kFirstReminder && interval_ <= kLastReminder);
  next_report_ = saturating_add(now, interval_);
  return error;
}

std::optional<Error> Outage::recovered() {
  std::optional<Error> error = std::exchange(last_, std::nullopt);
  if (!reported_) error.reset();
  return error;
}

}  // namespace tenure::core
