// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tenure::sqlite {

/// What the store must know about the machine it runs on; tests bring their own.
struct Environment {
  /// Tells this boot from every other one. Instants of another boot mean nothing.
  std::string boot_id;
  /// The type of the file system that holds a path, as statfs(2) gives it.
  std::function<Result<std::int64_t>(const std::string& path)> file_system_type;
};

/// Reads it from the system. unsupported: the boot clock is shifted by a time namespace, or the
/// system does not tell its boot id.
[[nodiscard]] Result<Environment> read_environment();

/// Whether a text in the form of /proc/self/timens_offsets says that the boot clock is shifted.
[[nodiscard]] bool boot_clock_is_shifted(std::string_view timens_offsets);

/// unsupported, with the name of the file system, for one that several machines may share: neither
/// SQLite's shared memory nor the kernel's locks work across machines.
[[nodiscard]] Result<void> check_file_system(std::int64_t type, const std::string& path);

}  // namespace tenure::sqlite
