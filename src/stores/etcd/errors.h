// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <string>

namespace tenure::etcd {

/// How a remote procedure call ended: gRPC's code number and the server's message.
struct RpcStatus {
  int code = 0;
  std::string message;
};

/// What may help before the request is given up.
enum class Cure {
  none,
  elsewhere,     ///< Another endpoint, or a new connection.
  authenticate,  ///< A new token.
};

struct Fault {
  Error error;
  Cure cure = Cure::none;
  /// The request certainly had no effect: it may be sent again whatever it is.
  bool without_effect = true;
};

enum class Kind { read, write };

/// What an etcd answer means for the caller. The message alone tells many cases apart, and the code
/// of the same case differs between releases of etcd. Only a write can have an unknown outcome.
[[nodiscard]] Fault classify(const RpcStatus& status, Kind kind, const std::string& endpoint);

/// Authenticate's answer on a server without authentication: go on without a token.
[[nodiscard]] bool is_without_authentication(const RpcStatus& status);

}  // namespace tenure::etcd
