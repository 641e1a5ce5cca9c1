// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include "cli/console.h"
#include "cli/duration.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

namespace tenure::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  // Names are valid UTF-8 by rule; what another program wrote into the store may not be.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json milliseconds_or_null(Duration span) {
  if (span == Duration::max() || span == Duration::min()) return nullptr;
  return std::chrono::duration_cast<std::chrono::milliseconds>(span).count();
}

Json status_entry(const ElectionState& state, Instant now) {
  Json entry{{"name", state.election},  {"holder", nullptr}, {"session", nullptr},
             {"token", nullptr},        {"ttl_ms", nullptr}, {"held_for_ms", nullptr},
             {"expires_in_ms", nullptr}};
  if (!state.holder) return entry;
  const Record& holder = *state.holder;
  entry["holder"] = holder.id;
  entry["session"] = holder.session;
  entry["token"] = holder.token;
  entry["ttl_ms"] = milliseconds_or_null(holder.ttl);
  entry["held_for_ms"] = milliseconds_or_null(saturating_between(holder.acquired_at, now));
  entry["expires_in_ms"] = milliseconds_or_null(saturating_between(now, holder.expires_at));
  return entry;
}

using Row = std::array<std::string, 5>;

std::string span_or_dash(Duration span) {
  if (span == Duration::max() || span == Duration::min()) return "-";
  return format_duration(span);
}

Row row_of(const ElectionState& state, Instant now) {
  if (!state.holder) return {shown(state.election), "(free)", "-", "-", "-"};
  const Record& holder = *state.holder;
  return {shown(state.election), shown(holder.id), std::to_string(holder.token),
          span_or_dash(saturating_between(holder.acquired_at, now)),
          span_or_dash(saturating_between(now, holder.expires_at))};
}

// Columns, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

bool same_term(const std::optional<Record>& a, const std::optional<Record>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->session == b->session && a->revision == b->revision;
}

}  // namespace

std::string status_json(const std::vector<ElectionState>& states, Instant now) {
  Json list = Json::array();
  for (const ElectionState& state : states) list.push_back(status_entry(state, now));
  return text_of(list) + "\n";
}

std::string status_table(const std::vector<ElectionState>& states, Instant now) {
  std::vector<Row> rows{{"NAME", "HOLDER", "TOKEN", "HELD FOR", "EXPIRES IN"}};
  for (const ElectionState& state : states) rows.push_back(row_of(state, now));
  std::array<std::size_t, 5> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths.at(i) = std::max(widths.at(i), width_of(row.at(i)));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row.at(i);
      const bool last = i + 1 == row.size();
      text += last ? "\n" : std::string(widths.at(i) - width_of(row.at(i)) + 2, ' ');
    }
  }
  return text;
}

std::string change_json(const Change& change) {
  Json line{{"time", iso_time(change.time)},
            {"name", change.name},
            {"event", change.event},
            {"holder", nullptr},
            {"token", nullptr},
            {"reason", nullptr}};
  if (change.holder) line["holder"] = *change.holder;
  if (change.token) line["token"] = *change.token;
  if (!change.reason.empty()) line["reason"] = change.reason;
  return text_of(line) + "\n";
}

std::string change_line(const Change& change) {
  std::string line =
      iso_time(change.time) + "  " + shown(change.name) + "  " + std::string(change.event);
  if (change.holder) line += "  " + shown(*change.holder);
  if (change.token) line += "  token " + std::to_string(*change.token);
  if (!change.reason.empty()) line += "  (" + shown(change.reason) + ")";
  return line + "\n";
}

std::optional<Change> ChangeLog::note(const ElectionState& state, WallTime time) {
  const auto [entry, first] = seen_.try_emplace(state.election);
  const std::optional<Record> before = entry->second;
  if (!first && same_term(before, state.holder)) return std::nullopt;
  entry->second = state.holder;

  Change change{.time = time, .name = state.election, .event = "vacant"};
  if (state.holder) {
    change.event = before ? "changed" : "elected";
    change.holder = state.holder->id;
    change.token = state.holder->token;
  }
  if (first) {
    if (present_.erase(state.election) > 0) change.reason = "present state";
  } else if (before) {
    change.reason = "term " + std::to_string(before->token) + " of " + before->id + " ended";
  }
  return change;
}

std::string iso_time(WallTime time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(since - seconds).count();
  const std::time_t whole = seconds.count();
  std::tm parts{};
  gmtime_r(&whole, &parts);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(ms));
  return text.data();
}

}  // namespace tenure::cli
