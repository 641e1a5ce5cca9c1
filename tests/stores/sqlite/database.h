// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace tenure::test {

/// Looks at, and meddles with, a database as an operator with the sqlite3 command might.
class Database {
 public:
  explicit Database(const std::string& path) {
    sqlite3* handle = nullptr;
    EXPECT_EQ(
        sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr),
        SQLITE_OK)
        << path;
    handle_.reset(handle);
    sqlite3_busy_timeout(handle, 10'000);
  }

  /// Runs statements; returns the first column of the first row as text, or "".
  std::string run(const std::string& sql) {
    std::string first;
    char* message = nullptr;
    const auto take = [](void* to, int columns, char** values, char** /*names*/) {
      auto& text = *static_cast<std::string*>(to);
      if (columns > 0 && text.empty() && values[0] != nullptr) text = values[0];
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(handle_.get(), sql.c_str(), take, &first, &message), SQLITE_OK)
        << sql << ": " << (message != nullptr ? message : "");
    sqlite3_free(message);
    return first;
  }

 private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, &sqlite3_close};
};

}  // namespace tenure::test
