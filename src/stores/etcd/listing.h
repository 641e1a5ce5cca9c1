// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/core.h"

#include <vector>

namespace tenure::etcd {

/// list(): one read, and for each lease that others hold one question for its time.
void list(Core& core, const ListRequest& request, const AskPtr<std::vector<ElectionState>>& ask);

}  // namespace tenure::etcd
