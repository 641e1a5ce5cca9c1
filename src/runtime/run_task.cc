// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/run_task.h"

#include "runtime/fatal.h"

#include <exception>
#include <string>

namespace tenure::runtime {

void run_task(Executor::Task task) noexcept {
  try {
    task();
  } catch (const std::exception& error) {
    fatal((std::string("an exception left a task: ") + error.what()).c_str());
  } catch (...) {
    fatal("an exception left a task");
  }
}

}  // namespace tenure::runtime
