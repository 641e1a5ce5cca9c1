// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/run_callback.h"

#include <cstdio>
#include <exception>

namespace tenure::runtime {

void run_callback(Executor::Task task) noexcept {
  try {
    task();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tenure: an exception left a callback: %s\n", error.what());
  } catch (...) {
    std::fputs("tenure: an exception left a callback\n", stderr);
  }
}

}  // namespace tenure::runtime
