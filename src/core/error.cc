// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/error.h>

namespace tenure {

std::string_view to_string(Errc code) noexcept {
  // No default: a new code without a name must not compile in the dev preset.
  switch (code) {
    case Errc::unavailable:
      return "unavailable";
    case Errc::outcome_unknown:
      return "outcome_unknown";
    case Errc::conflict:
      return "conflict";
    case Errc::not_found:
      return "not_found";
    case Errc::unauthenticated:
      return "unauthenticated";
    case Errc::permission_denied:
      return "permission_denied";
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::unsupported:
      return "unsupported";
    case Errc::corrupt:
      return "corrupt";
    case Errc::closed:
      return "closed";
    case Errc::timed_out:
      return "timed_out";
  }
  return "unknown";
}

}  // namespace tenure
