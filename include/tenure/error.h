// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tenure {

/// What went wrong, told apart by what the caller does next. These are the classes of the store
/// contract (docs/store-contract.md); every store maps its own errors onto them.
enum class Errc {
  /// Surely nothing was changed. Wait (with backoff), then repeat the request as it is.
  unavailable,
  /// The request was sent and may have taken effect. Find out before doing anything else: repeat
  /// an acquire with the same session, or release with revision 0.
  outcome_unknown,
  /// Somebody else's change came first. Read the present state, then decide.
  conflict,
  /// What was named does not exist (any more).
  not_found,
  /// The store does not know us: renew the credentials, retry once, then tell a person.
  unauthenticated,
  /// The store knows us and refuses. Only a person can mend this.
  permission_denied,
  /// The request can never succeed as it is written. The message names the value and the rule.
  invalid_argument,
  /// This store, machine or build cannot do that (a network file system, a store not built in).
  unsupported,
  /// What the store holds is not what tenure wrote: foreign, newer or damaged. It is left as is.
  corrupt,
  /// The store, runtime or election was closed or stopped before the request was carried out.
  closed,
  /// A limit that the caller gave has passed before the thing was done. It may still happen.
  timed_out,
};

/// The code's own name ("outcome_unknown"), for logs and JSON. Thread-safe.
std::string_view to_string(Errc code) noexcept;

/// An error as a value: the class says what to do next, the message says what happened, with the
/// value that was wrong and what is accepted. The message is for people; do not parse it.
struct Error {
  Errc code = Errc::unavailable;
  std::string message;

  bool operator==(const Error&) const = default;
};

/// Either a value or an Error. tenure throws nothing across its border; look at every Result.
template <class T>
using Result = tl::expected<T, Error>;

/// Makes the error side of a Result: `return fail(Errc::closed, "the store is closed");`
[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace tenure
