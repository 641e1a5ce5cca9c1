// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct sqlite3_file;

namespace tenure::sqlite {

/// A database file by its bytes, through SQLite's own file layer: closing a descriptor of our own
/// would drop the locks that this process holds on the file, be it by another store or by the
/// user's own use of a foreign database.
class VfsFile {
 public:
  enum class Access { read, write, create };  ///< create: only if nothing is there.

  [[nodiscard]] static Result<std::unique_ptr<VfsFile>> open(const std::string& path,
                                                             const std::string& vfs, Access access);
  ~VfsFile();
  VfsFile(const VfsFile&) = delete;
  VfsFile& operator=(const VfsFile&) = delete;

  [[nodiscard]] Result<std::int64_t> size() const;
  /// What is behind the end of the file reads as zeros.
  [[nodiscard]] Result<void> read(unsigned char* to, std::size_t size, std::int64_t from) const;
  [[nodiscard]] Result<void> write(const unsigned char* from, std::size_t size, std::int64_t to);
  [[nodiscard]] Result<void> sync();
  [[nodiscard]] Result<void> cut_to_nothing();

  /// Against every other SQLite connection, as long as this object lives. False: somebody has the
  /// database open.
  [[nodiscard]] bool try_lock() noexcept;

 private:
  VfsFile(std::string path, std::size_t size);
  [[nodiscard]] sqlite3_file* handle() const noexcept;
  [[nodiscard]] Result<void> check(int result, const char* doing) const;

  std::string path_;
  const char* name_ = nullptr;  ///< In the form that SQLite wants, for as long as it is open.
  std::unique_ptr<std::max_align_t[]> memory_;
};

}  // namespace tenure::sqlite
