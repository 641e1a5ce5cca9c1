// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/temp_dir.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void give_up(std::string_view what, const fs::path& path) {
  std::perror((std::string(what) + " " + path.string()).c_str());
  std::abort();
}

}  // namespace

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "tenure-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) give_up("cannot make", pattern);
  path_ = pattern;
}

TempDir::~TempDir() {
  // A test may have taken the right to write away from what it made.
  std::error_code error;
  for (fs::recursive_directory_iterator it(path_, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory(error) && !it->is_symlink(error)) {
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, error);
    }
  }
  fs::permissions(path_, fs::perms::owner_all, fs::perm_options::add, error);
  fs::remove_all(path_, error);
  if (error) std::fprintf(stderr, "left behind: %s: %s\n", path_.c_str(), error.message().c_str());
}

std::string TempDir::operator/(std::string_view name) const { return (path_ / name).string(); }

std::string TempDir::write(std::string_view name, std::string_view content) const {
  const fs::path file = path_ / name;
  std::ofstream out(file, std::ios::binary);
  out << content;
  out.close();
  if (!out) give_up("cannot write", file);
  return file.string();
}

std::string read_file(const fs::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

}  // namespace tenure::test
