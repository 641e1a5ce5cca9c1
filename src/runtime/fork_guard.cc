// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/fork_guard.h"

#include "core/check.h"
#include "runtime/fatal.h"

#include <tenure/leadership.h>

#include <atomic>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tenure {
namespace {

using Byte = unsigned char;

// What terms point to when no page can be had: never held.
constexpr Byte kNotHeld = 0;

std::atomic<Byte*> guard_page{nullptr};
std::atomic<bool> all_lost{false};

std::size_t page_size() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// The kernel empties the page, so no other thread's read of it is a race. It refuses to for memory
// that is locked (mlockall); one byte cannot be torn, so a store does as well then.
void wipe(Byte* page) noexcept {
  if (page == nullptr || ::madvise(page, page_size(), MADV_DONTNEED) == 0) return;
  volatile Byte* const guard = page;
  *guard = 0;
}

void wipe_in_child() noexcept { wipe(guard_page.load()); }

Byte* make_page() noexcept {
  void* const memory =
      ::mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (::madvise(memory, page_size(), MADV_WIPEONFORK) != 0 &&
      ::pthread_atfork(nullptr, nullptr, wipe_in_child) != 0) {
    ::munmap(memory, page_size());
    return nullptr;
  }
  auto* const page = static_cast<Byte*>(memory);
  *page = 1;
  return page;
}

}  // namespace

namespace detail {

const volatile unsigned char* fork_guard() noexcept {
  // Whoever has a term has come by here, so a failed check finds its way to the terms.
  core::set_check_handler(runtime::fatal);
  Byte* known = guard_page.load();
  // A page that was wiped is that of a parent process: its terms keep it, ours get a new one.
  const volatile Byte* const in_force = known;
  if (in_force != nullptr && *in_force != 0) return in_force;
  Byte* const fresh = make_page();
  if (fresh == nullptr) return &kNotHeld;
  if (!guard_page.compare_exchange_strong(known, fresh)) {
    ::munmap(fresh, page_size());
    return known;
  }
  if (all_lost.load()) wipe(fresh);
  return fresh;
}

}  // namespace detail

namespace runtime {

void lose_every_term() noexcept {
  all_lost.store(true);
  wipe(guard_page.load());
}

}  // namespace runtime
}  // namespace tenure
