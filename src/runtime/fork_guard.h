// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tenure::runtime {

/// From now on no Leadership of this process is held, without a lock and whatever other threads
/// do: what forks do to the guard page of Leadership::held() is done to it here. For good.
/// Thread-safe.
void lose_every_term() noexcept;

}  // namespace tenure::runtime
