// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/fork_guard.h"

#include "tests/runtime/child.h"

#include <tenure/leadership.h>
#include <tenure/testkit/manual_clock.h>

#include <cstddef>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <memory>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <vector>

namespace tenure {
namespace {

using test::in_child;

Leadership new_term(const Clock& clock) {
  auto term = std::make_shared<detail::Term>(clock, 1);
  term->deadline_ns.store((clock.now() + std::chrono::hours(1)).time_since_epoch().count());
  return Leadership(std::move(term));
}

// From now on this process's kernel does not know MADV_WIPEONFORK.
bool forbid_wipe_on_fork() {
  constexpr auto kAdvice = static_cast<unsigned>(offsetof(seccomp_data, args[2]));
  constexpr auto kCall = static_cast<unsigned>(offsetof(seccomp_data, nr));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCall),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kAdvice),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MADV_WIPEONFORK, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 22),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(ForkGuard, LK03_TermIsNotHeldInAForkedChildAndStaysHeldInTheParent) {
  const testkit::ManualClock clock;
  const Leadership term = new_term(clock);
  ASSERT_TRUE(term.held());
  EXPECT_EQ(in_child([&] { return term.held() ? 1 : 0; }), 0);
  EXPECT_EQ(in_child([&] { return term.remaining() > Duration::zero() ? 1 : 0; }), 0);
  EXPECT_TRUE(term.held());
}

TEST(ForkGuard, ChildMayHoldTermsOfItsOwnAndItsChildrenDoNotHoldThem) {
  const testkit::ManualClock clock;
  const Leadership parents = new_term(clock);
  const int result = in_child([&] {
    const Leadership own = new_term(clock);
    if (!own.held()) return 1;
    if (parents.held()) return 2;
    if (in_child([&] { return own.held() ? 1 : 0; }) != 0) return 3;
    return own.held() ? 0 : 4;
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(parents.held());
}

TEST(ForkGuard, HoldsOnAKernelThatCannotWipeOnFork) {
  const testkit::ManualClock clock;
  // In a child, because a filter cannot be taken off again; it makes a guard of its own.
  (void)detail::fork_guard();
  const int result = in_child([&] {
    if (!forbid_wipe_on_fork()) return 1;
    const Leadership term = new_term(clock);
    if (!term.held()) return 2;
    if (in_child([&] { return term.held() ? 1 : 0; }) != 0) return 3;
    return term.held() ? 0 : 4;
  });
  EXPECT_EQ(result, 0);
}

TEST(ForkGuard, AllTermsOfTheProcessAreLostAtOnceAndForGood) {
  const testkit::ManualClock clock;
  const int result = in_child([&] {
    const Leadership first = new_term(clock);
    const Leadership second = new_term(clock);
    if (!first.held() || !second.held()) return 1;
    runtime::lose_every_term();
    if (first.held() || second.held()) return 2;
    return new_term(clock).held() ? 3 : 0;
  });
  EXPECT_EQ(result, 0);
}

TEST(ForkGuard, TermsAreLostEvenIfTheProcessHasLockedItsMemory) {
  const testkit::ManualClock clock;
  const int result = in_child([&] {
    if (::mlockall(MCL_CURRENT) != 0) return 77;
    const Leadership term = new_term(clock);
    // What was there before is locked; a page of a child is not, so lock again.
    if (::mlockall(MCL_CURRENT) != 0) return 77;
    if (!term.held()) return 1;
    runtime::lose_every_term();
    return term.held() ? 2 : 0;
  });
  if (result == 77) GTEST_SKIP() << "this machine does not let us lock memory";
  EXPECT_EQ(result, 0);
}

TEST(ForkGuard, ThreadsThatAskFirstAtTheSameTimeAgree) {
  // In a child the first use is still to come.
  (void)detail::fork_guard();
  const int result = in_child([] {
    std::vector<const volatile unsigned char*> seen(8);
    std::vector<std::thread> threads;
    for (auto& entry : seen) threads.emplace_back([&entry] { entry = detail::fork_guard(); });
    for (auto& thread : threads) thread.join();
    for (const auto* entry : seen) {
      if (entry != seen.front() || *entry == 0) return 1;
    }
    return 0;
  });
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace tenure
