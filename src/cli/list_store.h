// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/runtime.h>

#include <memory>
#include <string>
#include <vector>

namespace tenure::cli {

// Asks the store who holds what (`election` empty: all) and waits for the answer, for `timeout`.
[[nodiscard]] Result<std::vector<ElectionState>> list_store(Runtime& runtime,
                                                            std::shared_ptr<LeaseStore> store,
                                                            const std::string& election,
                                                            Duration timeout);

}  // namespace tenure::cli
