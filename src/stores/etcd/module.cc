// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/store_module.h"

#include <tenure/etcd_store.h>

#include <utility>

extern "C" [[gnu::visibility("default")]] bool tenure_open_store(
    std::string_view version, std::string_view url, tenure::Executor& executor,
    const tenure::StoreOptions& /*options*/, tenure::runtime::OpenedStore& opened);

// Named by kModuleEntry.
bool tenure_open_store(std::string_view version, std::string_view url, tenure::Executor& executor,
                       const tenure::StoreOptions& /*options*/,
                       tenure::runtime::OpenedStore& opened) {
  static_assert(std::is_same_v<decltype(&tenure_open_store), tenure::runtime::ModuleEntry>);
  if (version != TENURE_VERSION) return false;
  auto options = tenure::parse_etcd_url(url);
  if (!options) {
    opened = tl::unexpected(std::move(options.error()));
    return true;
  }
  auto store = tenure::open_etcd_store(std::move(*options), executor);
  if (!store) {
    opened = tl::unexpected(std::move(store.error()));
  } else {
    opened = std::shared_ptr<tenure::LeaseStore>(std::move(*store));
  }
  return true;
}
