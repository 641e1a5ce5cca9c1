// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/fatal.h"

#include "runtime/fork_guard.h"

#include <tenure/election.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <sys/uio.h>
#include <unistd.h>

namespace tenure {
namespace {

iovec part(std::string_view text) noexcept { return {const_cast<char*>(text.data()), text.size()}; }

// One write without allocation: the process may be out of memory, or hold stdio's lock.
void print_and_abort(const char* what) noexcept {
  const iovec parts[] = {part("tenure: fatal: "), part(what), part("\n")};
  [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, parts, 3);
  std::abort();
}

std::atomic<FatalHook> hook_in_force{print_and_abort};

}  // namespace

FatalHook set_fatal_hook(FatalHook hook) noexcept {
  return hook_in_force.exchange(hook != nullptr ? hook : print_and_abort);
}

namespace runtime {

void fatal(const char* what) noexcept {
  // A hook that fails a check itself must not be called again.
  thread_local bool within = false;
  if (!within) {
    within = true;
    lose_every_term();
    hook_in_force.load()(what);
  }
  std::abort();
}

}  // namespace runtime
}  // namespace tenure
