// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/runtime.h>

#include <memory>
#include <string_view>

/// Stores that need heavy libraries are modules: shared objects that open_store loads when a URL
/// asks for them, so that whoever does not use them does not pay for them at start-up.
namespace tenure::runtime {

using OpenedStore = Result<std::shared_ptr<LeaseStore>>;

/// What a module exports under the name kModuleEntry. `version` must equal what the module was
/// built with, since they share C++ types; false: it does not, and `opened` was not touched.
using ModuleEntry = bool (*)(std::string_view version, std::string_view url, Executor& executor,
                             const StoreOptions& options, OpenedStore& opened);

inline constexpr const char* kModuleEntry = "tenure_open_store";

/// Opens a store by its module, tenure-store-SCHEME.so. It is looked for in the folder that the
/// environment's TENURE_MODULES names, and nowhere else; without that in "tenure-modules" beside
/// the program (or shared library) that this code is in, in the library folder that belongs to it
/// when it is installed, and in the one that was given when it was built. A module stays loaded.
///
/// unsupported: not there (says where it was looked for), cannot be loaded (says why), or of
/// another version. Reads the environment: not while another thread changes it.
[[nodiscard]] OpenedStore open_by_module(std::string_view scheme, std::string_view url,
                                         Executor& executor, const StoreOptions& options);

}  // namespace tenure::runtime
