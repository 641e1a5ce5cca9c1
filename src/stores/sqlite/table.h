// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/time.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/sqlite/connection.h"
#include "stores/sqlite/session_lock.h"

namespace tenure::sqlite {

/// One row of `election`.
struct Row {
  std::string name;
  std::uint64_t token = 0;   ///< Of the present term, or of the last one.
  std::uint64_t change = 0;  ///< The store's revision when the holder last changed.
  bool is_held = false;      ///< As written; whether that still counts is a question of time.
  std::string session;
  std::string id;
  Duration ttl{};
  Instant expires{};
  Instant acquired{};
  WallTime acquired_wall{};
  std::string boot_id;
  LockPlace lock;
};

/// The statements on one connection. Every call belongs into a transaction of the caller.
class Table {
 public:
  /// Prepares everything, so that nothing is compiled later.
  [[nodiscard]] static Result<std::unique_ptr<Table>> prepare(Connection& connection);

  [[nodiscard]] Result<std::optional<Row>> find(std::string_view name);
  /// Rows whose `change` is larger, ordered by name; since 0: all.
  [[nodiscard]] Result<std::vector<Row>> changed_since(std::uint64_t change);
  [[nodiscard]] Result<std::size_t> count();

  [[nodiscard]] Result<std::uint64_t> last_revision();
  /// Raises the counter, above `floor` if that is higher, and returns its new value.
  [[nodiscard]] Result<std::uint64_t> next_revision(std::uint64_t floor);

  [[nodiscard]] Result<void> put(const Row& row);
  /// Ends the holding; the row stays.
  [[nodiscard]] Result<void> vacate(std::string_view name, std::uint64_t change);
  /// Sets a new end, if the term is this one and has not ended by `now`. False: it is not, or has.
  [[nodiscard]] Result<bool> prolong(std::string_view name, std::string_view session,
                                     std::uint64_t token, std::string_view boot_id, Instant now,
                                     Duration ttl);

  /// Changes with every commit of any other connection. Needs no transaction.
  [[nodiscard]] Result<std::int64_t> data_version();

 private:
  explicit Table(Connection& connection) : connection_(connection) {}
  [[nodiscard]] static Row row_from(const Statement& statement);
  [[nodiscard]] Result<std::int64_t> one_integer(Statement& statement);
  [[nodiscard]] static Result<void> run(Statement& statement);

  Connection& connection_;
  Statement find_;
  Statement changed_since_;
  Statement count_;
  Statement last_revision_;
  Statement next_revision_;
  Statement put_;
  Statement vacate_;
  Statement prolong_;
  Statement data_version_;
};

}  // namespace tenure::sqlite
