// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/writer_lease.h>

#include <gtest/gtest.h>
#include <poll.h>
#include <utility>

namespace tenure::test {

/// A writer lease with these options, which must be right.
inline WriterLease make(WriterLeaseOptions options) {
  auto lease = WriterLease::create(std::move(options));
  EXPECT_TRUE(lease.has_value());
  return std::move(*lease);
}

/// Work that succeeds.
inline WorkResult extend() { return {WorkEffect::extend}; }

/// Whether there is something to read, at once or within the limit.
inline bool readable(int fd, int limit_ms = 0) {
  pollfd polled{fd, POLLIN, 0};
  return poll(&polled, 1, limit_ms) == 1;
}

}  // namespace tenure::test
