// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/errors.h"

#include <gtest/gtest.h>

namespace tenure::etcd {
namespace {

struct Case {
  int code;
  const char* message;
  Errc read;
  Errc write;
  Cure cure;
};

// Codes and messages as etcd 3.4.23 and gRPC give them.
constexpr Case kCases[] = {
    {5, "etcdserver: requested lease not found", Errc::not_found, Errc::not_found, Cure::none},
    {9, "etcdserver: lease already exists", Errc::conflict, Errc::conflict, Cure::none},
    {11, "etcdserver: too large lease TTL", Errc::invalid_argument, Errc::invalid_argument,
     Cure::none},
    {8, "etcdserver: too many requests", Errc::unavailable, Errc::unavailable, Cure::none},
    {8, "etcdserver: mvcc: database space exceeded", Errc::unavailable, Errc::unavailable,
     Cure::none},
    {14, "etcdserver: no leader", Errc::unavailable, Errc::unavailable, Cure::elsewhere},
    {14, "etcdserver: leader changed", Errc::unavailable, Errc::outcome_unknown, Cure::elsewhere},
    {14, "etcdserver: request timed out", Errc::unavailable, Errc::outcome_unknown,
     Cure::elsewhere},
    {14, "etcdserver: request timed out, possibly due to previous leader failure",
     Errc::unavailable, Errc::outcome_unknown, Cure::elsewhere},
    {14, "etcdserver: server stopped", Errc::unavailable, Errc::outcome_unknown, Cure::elsewhere},
    {2, "context deadline exceeded", Errc::unavailable, Errc::outcome_unknown, Cure::elsewhere},
    {14, "Socket closed", Errc::unavailable, Errc::outcome_unknown, Cure::elsewhere},
    {14, "failed to connect to all addresses; last error: UNKNOWN: Connection refused",
     Errc::unavailable, Errc::unavailable, Cure::elsewhere},
    {4, "Deadline Exceeded", Errc::unavailable, Errc::outcome_unknown, Cure::elsewhere},
    {3, "etcdserver: authentication failed, invalid user ID or password", Errc::unauthenticated,
     Errc::unauthenticated, Cure::none},
    {3, "etcdserver: user name is empty", Errc::unauthenticated, Errc::unauthenticated,
     Cure::authenticate},
    {3, "etcdserver: revision of auth store is old", Errc::unauthenticated, Errc::unauthenticated,
     Cure::authenticate},
    {16, "etcdserver: invalid auth token", Errc::unauthenticated, Errc::unauthenticated,
     Cure::authenticate},
    {7, "etcdserver: permission denied", Errc::permission_denied, Errc::permission_denied,
     Cure::none},
    // A refused watch has a text only.
    {2, "rpc error: code = PermissionDenied desc = etcdserver: permission denied",
     Errc::permission_denied, Errc::permission_denied, Cure::none},
    {3, "etcdserver: request is too large", Errc::invalid_argument, Errc::invalid_argument,
     Cure::none},
    {15, "etcdserver: corrupt cluster", Errc::corrupt, Errc::corrupt, Cure::none},
    {12, "unknown service", Errc::unsupported, Errc::unsupported, Cure::none},
};

TEST(EtcdErrors, SayWhatToDoNext) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.message);
    const Fault read = classify({one.code, one.message}, Kind::read, "h:1");
    EXPECT_EQ(read.error.code, one.read);
    EXPECT_EQ(read.cure, one.cure);
    EXPECT_TRUE(read.without_effect) << "a read has none";
    const Fault write = classify({one.code, one.message}, Kind::write, "h:1");
    EXPECT_EQ(write.error.code, one.write);
    EXPECT_EQ(write.cure, one.cure);
    EXPECT_EQ(write.without_effect, one.write != Errc::outcome_unknown);
  }
}

TEST(EtcdErrors, NameTheEndpointAndStayReadable) {
  const Fault fault = classify({14, std::string(5000, 'x')}, Kind::read, "10.0.0.1:2379");
  EXPECT_NE(fault.error.message.find("10.0.0.1:2379"), std::string::npos);
  EXPECT_LT(fault.error.message.size(), 400U);
  EXPECT_FALSE(classify({14, ""}, Kind::read, "h:1").error.message.empty());
}

TEST(EtcdErrors, AServerWithoutAuthenticationSaysSo) {
  EXPECT_TRUE(is_without_authentication({9, "etcdserver: authentication is not enabled"}));
  EXPECT_FALSE(is_without_authentication({9, "etcdserver: not leader"}));
}

}  // namespace
}  // namespace tenure::etcd
