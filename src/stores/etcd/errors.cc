// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/errors.h"

#include <array>
#include <string_view>
#include <utility>

namespace tenure::etcd {
namespace {

// gRPC's numbers; its headers are too heavy to include for sixteen constants.
enum Code : int {
  kUnknown = 2,
  kInvalidArgument = 3,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

struct Known {
  std::string_view text;  // contained in the message
  Errc code;
  Cure cure;
};

// Told apart by what they say; all of them are refusals before anything was proposed.
constexpr std::array kKnown{
    Known{"requested lease not found", Errc::not_found, Cure::none},
    Known{"lease already exists", Errc::conflict, Cure::none},
    Known{"too large lease TTL", Errc::invalid_argument, Cure::none},
    Known{"too many requests", Errc::unavailable, Cure::none},
    Known{"database space exceeded", Errc::unavailable, Cure::none},
    Known{"etcdserver: no leader", Errc::unavailable, Cure::elsewhere},
    Known{"etcdserver: not capable", Errc::unavailable, Cure::elsewhere},
    Known{"etcdserver: unhealthy cluster", Errc::unavailable, Cure::elsewhere},
    Known{"rpc not supported for learner", Errc::unavailable, Cure::elsewhere},
    Known{"corrupt cluster", Errc::corrupt, Cure::none},
    Known{"invalid user ID or password", Errc::unauthenticated, Cure::none},
    Known{"user name is empty", Errc::unauthenticated, Cure::authenticate},
    Known{"revision of auth store is old", Errc::unauthenticated, Cure::authenticate},
    Known{"invalid auth token", Errc::unauthenticated, Cure::authenticate},
    Known{"permission denied", Errc::permission_denied, Cure::none},
    Known{"authentication is not enabled", Errc::unsupported, Cure::none},
    // gRPC's own words for "never left this machine".
    Known{"failed to connect", Errc::unavailable, Cure::elsewhere},
    Known{"connections to all backends failing", Errc::unavailable, Cure::elsewhere},
    Known{"DNS resolution failed", Errc::unavailable, Cure::elsewhere},
    Known{"empty address list", Errc::unavailable, Cure::elsewhere},
};

Fault by_code(int code, Kind kind) {
  switch (code) {
    case kInvalidArgument:
    case kFailedPrecondition:
    case kOutOfRange:
      return {{Errc::invalid_argument, {}}, Cure::none, true};
    case kNotFound:
      return {{Errc::not_found, {}}, Cure::none, true};
    case kPermissionDenied:
      return {{Errc::permission_denied, {}}, Cure::none, true};
    case kUnauthenticated:
      return {{Errc::unauthenticated, {}}, Cure::authenticate, true};
    case kUnimplemented:
      return {{Errc::unsupported, {}}, Cure::none, true};
    case kDataLoss:
      return {{Errc::corrupt, {}}, Cure::none, true};
    case kResourceExhausted:
      return {{Errc::unavailable, {}}, Cure::none, kind == Kind::read};
    default:
      // Timed out, cut off, or a code that says nothing: 3.4 answers a put without a leader with
      // "unknown".
      return {{Errc::unavailable, {}}, Cure::elsewhere, kind == Kind::read};
  }
}

}  // namespace

Fault classify(const RpcStatus& status, Kind kind, const std::string& endpoint) {
  Fault fault = by_code(status.code, kind);
  for (const Known& known : kKnown) {
    if (status.message.find(known.text) == std::string::npos) continue;
    fault = {{known.code, {}}, known.cure, true};
    break;
  }
  if (!fault.without_effect) fault.error.code = Errc::outcome_unknown;
  fault.error.message = "etcd at " + endpoint + ": " +
                        (status.message.empty() ? "gRPC code " + std::to_string(status.code)
                                                : status.message.substr(0, 300));
  return fault;
}

bool is_without_authentication(const RpcStatus& status) {
  return status.message.find("authentication is not enabled") != std::string::npos;
}

}  // namespace tenure::etcd
