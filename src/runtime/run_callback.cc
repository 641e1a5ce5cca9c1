// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/run_callback.h"

#include <cstdio>
#include <exception>

namespace tenure::runtime {
namespace {

void print(const char* what) noexcept {
  std::fprintf(stderr, "tenure: an exception left a callback: %s\n", what);
}

}  // namespace

void run_callback(const Executor::Task& task, ExceptionReport report) noexcept {
  if (report == nullptr) report = print;
  try {
    task();
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report("not a std::exception");
  }
}

}  // namespace tenure::runtime
