// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stores/sqlite/connection.h"

namespace tenure::sqlite {

/// "TNRE": marks a SQLite file as ours (PRAGMA application_id).
inline constexpr std::int32_t kApplicationId = 0x544E5245;
/// The layout that this code writes (PRAGMA user_version). Raise it with every change of the tables
/// that an older tenure could not work with.
inline constexpr std::int32_t kSchemaVersion = 1;

/// How much of a file check_header() wants to see; and the bytes that say that it is of SQLite.
inline constexpr std::size_t kHeaderSize = 100;
inline constexpr std::size_t kMagicSize = 16;

/// Checks the first bytes of a file, of which `size` could be read.
[[nodiscard]] Result<void> check_header(const unsigned char* header, std::size_t size,
                                        const std::string& path);

/// The bytes of a whole new database: written to a file in one go, it is never seen half made.
[[nodiscard]] Result<std::vector<unsigned char>> new_database_image();

/// Whether a file holds nothing but a part of that, without the beginning: see create_database().
[[nodiscard]] bool is_part_of_image(const std::vector<unsigned char>& bytes,
                                    const std::vector<unsigned char>& image) noexcept;

/// What check_header() cannot see: marks that stand in the log, tables, and that the file can be
/// read at all. Nothing is changed.
[[nodiscard]] Result<void> check_schema(Connection& connection, const std::string& path);

}  // namespace tenure::sqlite
