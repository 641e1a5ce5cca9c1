// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tenure::test {

/// A new, empty folder that is gone, with all that is in it, when the object is. Below TMPDIR, or
/// /tmp. Aborts the test program if there can be none.
class TempDir {
 public:
  TempDir();
  ~TempDir();

  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// The path of `name` in the folder; nothing is created.
  [[nodiscard]] std::string operator/(std::string_view name) const;

  /// Writes a whole file in the folder and returns its path.
  [[nodiscard]] std::string write(std::string_view name, std::string_view content) const;

 private:
  std::filesystem::path path_;
};

/// The whole content of a file; empty if it cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace tenure::test
