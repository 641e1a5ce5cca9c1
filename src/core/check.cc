// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check.h"

#include <atomic>
#include <cstdlib>

namespace tenure::core {
namespace {

std::atomic<CheckHandler> handler_in_force{nullptr};

}  // namespace

CheckHandler set_check_handler(CheckHandler handler) noexcept {
  return handler_in_force.exchange(handler);
}

void check_failed(const char* what) noexcept {
  if (const CheckHandler handler = handler_in_force.load()) handler(what);
  std::abort();
}

}  // namespace tenure::core
