// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/schema.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace tenure::sqlite {
namespace {

// A row of an election stays when it is released, with the token of its last term; `meta` keeps
// the counter even if somebody deletes rows by hand. `change` is the counter's value when the
// holder last changed; renewals leave it alone, so that nobody is woken by them.
constexpr const char* kTables = R"sql(
CREATE TABLE meta (
  one           INTEGER PRIMARY KEY CHECK (one = 1),
  last_revision INTEGER NOT NULL
) STRICT;
INSERT INTO meta VALUES (1, 0);
CREATE TABLE election (
  name          TEXT PRIMARY KEY,
  token         INTEGER NOT NULL,
  change        INTEGER NOT NULL,
  session       TEXT,             -- NULL: nobody holds
  id            TEXT NOT NULL,
  ttl           INTEGER NOT NULL, -- nanoseconds, as all times here
  expires       INTEGER NOT NULL, -- boot time of the boot below
  acquired      INTEGER NOT NULL, -- the same
  acquired_wall INTEGER NOT NULL, -- since 1970, for people
  boot_id       TEXT NOT NULL,
  lock_device   INTEGER NOT NULL,
  lock_inode    INTEGER NOT NULL,
  lock_offset   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX election_change ON election (change);
)sql";

constexpr char kMagic[] = "SQLite format 3";  // The NUL at its end belongs to it.
static_assert(sizeof kMagic == kMagicSize);
constexpr std::size_t kWriteVersionAt = 18;
constexpr std::size_t kReadVersionAt = 19;
constexpr std::size_t kUserVersionAt = 60;
constexpr std::size_t kApplicationIdAt = 68;
constexpr unsigned char kWalVersion = 2;

std::int64_t big_endian_32(const unsigned char* at) noexcept {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | at[i];
  return static_cast<std::int32_t>(value);
}

Result<void> check_marks(std::int64_t application, std::int64_t version, const std::string& path) {
  if (application != kApplicationId) {
    return fail(Errc::corrupt, path + " is a database of another program, not of tenure");
  }
  if (version > kSchemaVersion) {
    return fail(Errc::corrupt, path + " was made by a newer tenure (schema " +
                                   std::to_string(version) + "; this one knows up to " +
                                   std::to_string(kSchemaVersion) + ")");
  }
  if (version < 1) {
    return fail(Errc::corrupt,
                path + " is a damaged tenure database (schema " + std::to_string(version) + ")");
  }
  return {};
}

Result<std::int64_t> one_integer(Connection& connection, const char* sql) {
  auto statement = connection.prepare(sql);
  if (!statement) return tl::unexpected<Error>(std::move(statement.error()));
  auto row = statement->step();
  if (!row) return tl::unexpected<Error>(std::move(row.error()));
  return *row ? statement->integer(0) : std::int64_t{0};
}

}  // namespace

Result<void> check_header(const unsigned char* header, std::size_t size, const std::string& path) {
  if (size < kHeaderSize || std::memcmp(header, kMagic, sizeof kMagic) != 0) {
    return fail(Errc::corrupt, path + " is not a tenure database (not even one of SQLite)");
  }
  return check_marks(big_endian_32(header + kApplicationIdAt),
                     big_endian_32(header + kUserVersionAt), path);
}

Result<std::vector<unsigned char>> new_database_image() {
  sqlite3* handle = nullptr;
  const int opened =
      sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> closer(handle, &sqlite3_close);
  const std::string sql = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                          "; PRAGMA user_version = " + std::to_string(kSchemaVersion) + ";" +
                          kTables;
  int result = opened;
  if (result == SQLITE_OK) result = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(
      result == SQLITE_OK ? sqlite3_serialize(handle, "main", &size, 0) : nullptr, &sqlite3_free);
  if (bytes == nullptr || size < static_cast<sqlite3_int64>(kHeaderSize)) {
    return tl::unexpected<Error>(
        make_error(handle, result, Phase::opening, "make", "a new database"));
  }
  std::vector<unsigned char> image(bytes.get(), bytes.get() + size);
  image[kWriteVersionAt] = kWalVersion;
  image[kReadVersionAt] = kWalVersion;
  return image;
}

bool is_part_of_image(const std::vector<unsigned char>& bytes,
                      const std::vector<unsigned char>& image) noexcept {
  if (bytes.size() < kHeaderSize || bytes.size() > image.size()) return false;
  // Not of a file that is all zeros, which may be anybody's.
  const bool is_marked =
      std::equal(bytes.begin() + kApplicationIdAt, bytes.begin() + kApplicationIdAt + 4,
                 image.begin() + kApplicationIdAt);
  const bool is_begun = std::equal(bytes.begin(), bytes.begin() + kMagicSize, image.begin());
  return is_marked && !is_begun &&
         std::equal(
             bytes.begin(), bytes.end(), image.begin(),
             [](unsigned char ours, unsigned char whole) { return ours == 0 || ours == whole; });
}

Result<void> check_schema(Connection& connection, const std::string& path) {
  auto application = one_integer(connection, "PRAGMA application_id");
  if (!application) return tl::unexpected<Error>(std::move(application.error()));
  auto version = one_integer(connection, "PRAGMA user_version");
  if (!version) return tl::unexpected<Error>(std::move(version.error()));
  if (auto ours = check_marks(*application, *version, path); !ours) return ours;
  auto counters = one_integer(connection, "SELECT count(*) FROM meta");
  if (!counters) return tl::unexpected<Error>(std::move(counters.error()));
  if (*counters != 1) return fail(Errc::corrupt, path + " has lost its token counter");
  return {};
}

}  // namespace tenure::sqlite
