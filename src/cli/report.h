// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/error.h>
#include <tenure/store.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// What `status` and `watch` print: pure, so that the formats that others parse are tested as text.
namespace tenure::cli {

// A JSON array with one object an election (docs/operating.md), and a line feed.
[[nodiscard]] std::string status_json(const std::vector<ElectionState>& states, Instant now);

// A table for people.
[[nodiscard]] std::string status_table(const std::vector<ElectionState>& states, Instant now);

// One change of one election.
struct Change {
  WallTime time{};
  std::string name{};
  std::string_view event{};             // elected, vacant, changed or error
  std::optional<std::string> holder{};  // who holds now
  std::optional<std::uint64_t> token{};
  std::string reason{};  // may be empty
};

[[nodiscard]] std::string change_json(const Change& change);
[[nodiscard]] std::string change_line(const Change& change);

// Turns the states that a watch gives into changes.
class ChangeLog {
 public:
  // This election was there when the watch began: its first state is no change.
  void expect(const std::string& election) { present_.insert(election); }

  // Nothing if this state shows no new holder.
  [[nodiscard]] std::optional<Change> note(const ElectionState& state, WallTime time);

 private:
  std::map<std::string, std::optional<Record>> seen_;
  std::set<std::string> present_;
};

// "2026-11-30T19:30:00.123Z".
[[nodiscard]] std::string iso_time(WallTime time);

}  // namespace tenure::cli
