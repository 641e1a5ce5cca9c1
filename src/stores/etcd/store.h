// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/types.h"

#include <tenure/etcd_store.h>

#include <memory>
#include <string>

namespace tenure::etcd {

/// A store object over any cluster.
[[nodiscard]] std::unique_ptr<EtcdStore> make_store(std::unique_ptr<Cluster> cluster,
                                                    Executor& executor, std::string prefix);

}  // namespace tenure::etcd
