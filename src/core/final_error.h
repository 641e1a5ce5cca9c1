// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

namespace tenure::core {

/// Whether waiting mends nothing: what the store holds is not tenure's, or it cannot do what is
/// asked. Who waits for an election gives up on such an answer; who leads tries until its deadline,
/// because there is nothing to lose. A lack of rights or credentials is mended in place, as the
/// store goes on, so it is not final.
[[nodiscard]] constexpr bool is_final(Errc code) noexcept {
  switch (code) {
    case Errc::corrupt:
    case Errc::unsupported:
    case Errc::invalid_argument:
    case Errc::closed:
      return true;
    case Errc::unavailable:
    case Errc::outcome_unknown:
    case Errc::conflict:
    case Errc::not_found:
    case Errc::unauthenticated:
    case Errc::permission_denied:
    case Errc::timed_out:
      return false;
  }
  return false;
}

}  // namespace tenure::core
