// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/version.h>

namespace tenure {

std::string_view version() noexcept { return TENURE_VERSION; }

}  // namespace tenure
