// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/writer_lease.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

namespace {

thread_local bool memory_is_out = false;

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = memory_is_out ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tenure::test {
namespace {

// With a lease of its own, since a death test runs in a forked child.
void submit_without_memory() {
  auto lease = WriterLease::create({.workers = 0});
  ASSERT_TRUE(lease);
  std::array<char, 8> key{};
  memory_is_out = true;
  for (int i = 0; i < 100'000; ++i) {
    const auto* const end = std::to_chars(key.data(), key.data() + key.size(), i).ptr;
    (void)lease->try_work(std::string_view(key.data(), static_cast<std::size_t>(end - key.data())),
                          [] { return WorkResult{}; });
  }
  memory_is_out = false;
}

TEST(WriterLeaseMemoryDeathTest, ThatRunsOutInsideTheLockEndsTheProcessByTheFatalHook) {
  EXPECT_DEATH(submit_without_memory(), "tenure: fatal: no memory left");
}

}  // namespace
}  // namespace tenure::test
