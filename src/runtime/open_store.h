// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/engine.h"

#include <tenure/runtime.h>

#include <memory>
#include <string_view>

namespace tenure::runtime {

/// Runtime::open_store on an engine. The store keeps the engine, and is destroyed on its loop
/// wherever the last reference to it is dropped.
[[nodiscard]] Result<std::shared_ptr<LeaseStore>> open_store(const std::shared_ptr<Engine>& engine,
                                                             std::string_view url,
                                                             const StoreOptions& options);

}  // namespace tenure::runtime
