// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/etcd_store.h>

namespace tenure::etcd {

/// invalid_argument: names the option that is wrong.
[[nodiscard]] Result<void> check_options(const EtcdOptions& options);

}  // namespace tenure::etcd
