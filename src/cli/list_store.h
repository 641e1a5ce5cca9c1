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

// Whether the store takes writes now: asks for the release of what nobody holds, which changes
// nothing. The store must have been opened as candidates open it.
[[nodiscard]] Result<void> try_to_write(Runtime& runtime, std::shared_ptr<LeaseStore> store,
                                        Duration timeout);

}  // namespace tenure::cli
