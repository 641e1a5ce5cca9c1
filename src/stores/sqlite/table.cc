// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/table.h"

#include <bit>
#include <utility>

namespace tenure::sqlite {
namespace {

#define TENURE_ROW_COLUMNS                                                             \
  "name, token, change, session, id, ttl, expires, acquired, acquired_wall, boot_id, " \
  "lock_device, lock_inode, lock_offset"

constexpr const char* kFind = "SELECT " TENURE_ROW_COLUMNS " FROM election WHERE name = ?1";
constexpr const char* kChangedSince =
    "SELECT " TENURE_ROW_COLUMNS " FROM election WHERE change > ?1 ORDER BY name";
constexpr const char* kCount = "SELECT count(*) FROM election";
constexpr const char* kLastRevision = "SELECT last_revision FROM meta";
constexpr const char* kNextRevision =
    "UPDATE meta SET last_revision = max(last_revision, ?1) + 1 RETURNING last_revision";
constexpr const char* kPut = "REPLACE INTO election (" TENURE_ROW_COLUMNS
                             ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
constexpr const char* kVacate = "UPDATE election SET session = NULL, change = ?2 WHERE name = ?1";
constexpr const char* kProlong =
    "UPDATE election SET ttl = ?6, expires = ?7 WHERE name = ?1 AND session = ?2 AND token = ?3 "
    "AND boot_id = ?4 AND expires > ?5";

#undef TENURE_ROW_COLUMNS

std::int64_t number(std::uint64_t value) noexcept { return std::bit_cast<std::int64_t>(value); }
std::int64_t number(Instant when) noexcept { return when.time_since_epoch().count(); }

}  // namespace

Result<std::unique_ptr<Table>> Table::prepare(Connection& connection) {
  std::unique_ptr<Table> table(new Table(connection));
  const std::pair<Statement*, const char*> statements[] = {
      {&table->find_, kFind},
      {&table->changed_since_, kChangedSince},
      {&table->count_, kCount},
      {&table->last_revision_, kLastRevision},
      {&table->next_revision_, kNextRevision},
      {&table->put_, kPut},
      {&table->vacate_, kVacate},
      {&table->prolong_, kProlong},
      {&table->data_version_, "PRAGMA data_version"}};
  for (const auto& [statement, sql] : statements) {
    auto prepared = connection.prepare(sql);
    if (!prepared) return tl::unexpected<Error>(std::move(prepared.error()));
    *statement = std::move(*prepared);
  }
  return table;
}

Row Table::row_from(const Statement& statement) {
  Row row;
  row.name = statement.text(0);
  row.token = std::bit_cast<std::uint64_t>(statement.integer(1));
  row.change = std::bit_cast<std::uint64_t>(statement.integer(2));
  row.is_held = !statement.is_null(3);
  row.session = statement.text(3);
  row.id = statement.text(4);
  row.ttl = Duration(statement.integer(5));
  row.expires = Instant(Duration(statement.integer(6)));
  row.acquired = Instant(Duration(statement.integer(7)));
  row.acquired_wall = WallTime(Duration(statement.integer(8)));
  row.boot_id = statement.text(9);
  row.lock = {statement.integer(10), statement.integer(11), statement.integer(12)};
  return row;
}

Result<void> Table::run(Statement& statement) {
  if (auto done = statement.step(); !done) return tl::unexpected<Error>(std::move(done.error()));
  return {};
}

Result<std::int64_t> Table::one_integer(Statement& statement) {
  auto row = statement.step();
  if (!row) return tl::unexpected<Error>(std::move(row.error()));
  if (!*row) return fail(Errc::corrupt, "the tenure database has lost its token counter");
  const std::int64_t value = statement.integer(0);
  statement.rewind();
  return value;
}

Result<std::optional<Row>> Table::find(std::string_view name) {
  auto found = find_.bind(1, name).step();
  if (!found) return tl::unexpected<Error>(std::move(found.error()));
  if (!*found) return std::optional<Row>();
  Row row = row_from(find_);
  find_.rewind();
  return std::optional<Row>(std::move(row));
}

Result<std::vector<Row>> Table::changed_since(std::uint64_t change) {
  std::vector<Row> rows;
  changed_since_.bind(1, change == 0 ? std::int64_t{-1} : number(change));
  while (true) {
    auto more = changed_since_.step();
    if (!more) return tl::unexpected<Error>(std::move(more.error()));
    if (!*more) return rows;
    rows.push_back(row_from(changed_since_));
  }
}

Result<std::size_t> Table::count() {
  auto value = one_integer(count_);
  if (!value) return tl::unexpected<Error>(std::move(value.error()));
  return static_cast<std::size_t>(*value);
}

Result<std::uint64_t> Table::last_revision() {
  auto value = one_integer(last_revision_);
  if (!value) return tl::unexpected<Error>(std::move(value.error()));
  return std::bit_cast<std::uint64_t>(*value);
}

Result<std::uint64_t> Table::next_revision(std::uint64_t floor) {
  auto value = one_integer(next_revision_.bind(1, number(floor)));
  if (!value) return tl::unexpected<Error>(std::move(value.error()));
  return std::bit_cast<std::uint64_t>(*value);
}

Result<void> Table::put(const Row& row) {
  put_.bind(1, row.name).bind(2, number(row.token)).bind(3, number(row.change));
  put_.bind(4, row.session).bind(5, row.id).bind(6, row.ttl.count());
  put_.bind(7, number(row.expires)).bind(8, number(row.acquired));
  put_.bind(9, row.acquired_wall.time_since_epoch().count()).bind(10, row.boot_id);
  put_.bind(11, row.lock.device).bind(12, row.lock.inode).bind(13, row.lock.offset);
  return run(put_);
}

Result<void> Table::vacate(std::string_view name, std::uint64_t change) {
  return run(vacate_.bind(1, name).bind(2, number(change)));
}

Result<bool> Table::prolong(std::string_view name, std::string_view session, std::uint64_t token,
                            std::string_view boot_id, Instant now, Duration ttl) {
  prolong_.bind(1, name).bind(2, session).bind(3, number(token)).bind(4, boot_id);
  prolong_.bind(5, number(now)).bind(6, ttl.count()).bind(7, number(saturating_add(now, ttl)));
  if (auto done = run(prolong_); !done) return tl::unexpected<Error>(std::move(done.error()));
  return sqlite3_changes(connection_.handle()) == 1;
}

Result<std::int64_t> Table::data_version() { return one_integer(data_version_); }

}  // namespace tenure::sqlite
