// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/events.h>

namespace tenure {

// No default in these: a new value without a name must not compile in the dev preset.

std::string_view to_string(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::expired:
      return "expired";
    case LossReason::taken_over:
      return "taken_over";
    case LossReason::deleted:
      return "deleted";
    case LossReason::yielded:
      return "yielded";
    case LossReason::stopped:
      return "stopped";
    case LossReason::unauthorized:
      return "unauthorized";
    case LossReason::fatal:
      return "fatal";
  }
  return "unknown";
}

std::string_view to_string(Phase phase) noexcept {
  switch (phase) {
    case Phase::idle:
      return "idle";
    case Phase::standing:
      return "standing";
    case Phase::leading:
      return "leading";
    case Phase::stepping_down:
      return "stepping_down";
    case Phase::pausing:
      return "pausing";
    case Phase::stopped:
      return "stopped";
  }
  return "unknown";
}

}  // namespace tenure
