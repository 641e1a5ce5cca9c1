// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>

#include <ctime>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string>

namespace tenure::sqlite {

/// Refuses a database that has a second name: SQLite names its log, and we the lock file, after the
/// path, so that whoever came by the other name would be alone there, and lead as well.
/// invalid_argument: it has hard links, or is a mount point itself (a single file that was bound
/// into a container). Nothing is there: fine.
[[nodiscard]] Result<void> check_only_name(const std::string& path);

/// Which files a connection uses, told by their inodes: the database and what SQLite keeps beside
/// it. All of them stay in place for as long as anybody is connected.
class OpenFiles {
 public:
  OpenFiles() = default;
  /// Of a connection to `path` that has read.
  explicit OpenFiles(const std::string& path);

  /// False: one of the names is gone, or names another file by now: who comes next would meet
  /// other files than we use. Gives SQLite's index its length back if somebody has cut it off:
  /// SQLite maps it, so the next to look beyond its end would be killed (SIGBUS), and makes it anew
  /// from the log if it finds zeros there.
  [[nodiscard]] bool are_in_place() noexcept { return are_in_place(files_.size()); }
  /// A third of the price: tells of the database only.
  [[nodiscard]] bool is_database_in_place() noexcept { return are_in_place(1); }

  /// All are as they were, the database by its content too, and none has appeared.
  [[nodiscard]] bool are_untouched() const noexcept;

 private:
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;  ///< The longest seen.
    bool is_cut = false;
    timespec changed{};
  };
  [[nodiscard]] static File look(std::string path) noexcept;
  [[nodiscard]] bool are_in_place(std::size_t how_many) noexcept;

  std::array<File, 3> files_;
};

}  // namespace tenure::sqlite
