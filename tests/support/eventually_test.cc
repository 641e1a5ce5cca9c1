// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/eventually.h"

#include <atomic>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace tenure::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Eventually, IsTrueAtOnceWhenTheConditionHolds) {
  const Stopwatch watch;
  EXPECT_TRUE(eventually([] { return true; }, Duration::zero()));
  EXPECT_LT(watch.elapsed(), seconds(5));
}

TEST(Eventually, IsFalseNoSoonerThanTheLimit) {
  const Stopwatch watch;
  EXPECT_FALSE(eventually([] { return false; }, milliseconds(30)));
  EXPECT_GE(watch.elapsed(), milliseconds(30));
}

TEST(Eventually, SeesWhatAnotherThreadDoes) {
  std::atomic<bool> done = false;
  std::thread other([&] { done = true; });
  EXPECT_TRUE(eventually([&] { return done.load(); }));
  other.join();
}

TEST(Eventually, LooksAgainWhenTheDescriptorBecomesReadable) {
  const int fd = ::eventfd(0, EFD_CLOEXEC);
  ASSERT_GE(fd, 0);
  std::thread other([&] { (void)::eventfd_write(fd, 1); });
  EXPECT_TRUE(eventually(
      [&] {
        eventfd_t value = 0;
        return ::eventfd_read(fd, &value) == 0;
      },
      kPatience, fd));
  other.join();
  ::close(fd);
}

}  // namespace
}  // namespace tenure::test
