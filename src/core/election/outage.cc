// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/election/outage.h"

#include <algorithm>
#include <utility>

namespace tenure::core {

namespace {
constexpr Duration kFirstReminder = std::chrono::seconds(10);
constexpr Duration kLastReminder = std::chrono::minutes(10);
constexpr Duration kKindChange = std::chrono::seconds(1);
}  // namespace

std::optional<Error> Outage::failed(const Error& error, Instant now) {
  const bool began = !last_;
  const bool changed = last_ && last_->code != error.code;
  last_ = error;
  if (began) {
    interval_ = kFirstReminder;
  } else if (changed && saturating_between(last_report_, now) >= kKindChange) {
    // A new kind of trouble is news, but two that alternate must not flood the log.
  } else if (now >= next_report_) {
    interval_ = std::min(interval_ * 2, kLastReminder);
  } else {
    return std::nullopt;
  }
  last_report_ = now;
  next_report_ = saturating_add(now, interval_);
  return error;
}

std::optional<Error> Outage::recovered() { return std::exchange(last_, std::nullopt); }

}  // namespace tenure::core
