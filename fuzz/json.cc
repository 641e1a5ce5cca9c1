// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include "fuzz.h"

#include <nlohmann/json.hpp>
#include <vector>

using tenure::fuzz::Bytes;
using tenure::fuzz::require;

namespace {

tenure::ElectionState state_from(Bytes& bytes) {
  tenure::ElectionState state;
  state.election = bytes.text();
  state.as_of = bytes.word();
  if (bytes.flag()) return state;
  tenure::Record record;
  record.election = state.election;
  record.id = bytes.text();
  record.session = bytes.text();
  record.revision = record.token = bytes.word();
  record.ttl = tenure::Duration(static_cast<tenure::Duration::rep>(bytes.word()));
  record.acquired_at =
      tenure::Instant(tenure::Duration(static_cast<tenure::Duration::rep>(bytes.word())));
  record.expires_at = bytes.flag() ? tenure::kNever : record.acquired_at;
  state.holder = record;
  return state;
}

}  // namespace

// What other programs parse is JSON whatever the names in a store are, and a table is lines.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  const tenure::Instant now{std::chrono::hours(1)};
  std::vector<tenure::ElectionState> states;
  tenure::cli::ChangeLog log;
  while (!bytes.empty() && states.size() < 4) {
    states.push_back(state_from(bytes));
    const auto change = log.note(states.back(), tenure::WallTime(std::chrono::hours(500'000)));
    if (!change) continue;
    const std::string line = tenure::cli::change_json(*change);
    require(nlohmann::json::accept(line), "a change is JSON");
    require(line.find('\n') >= line.size() - 1, "a change is one line");
    (void)tenure::cli::change_line(*change);
  }
  const auto all = nlohmann::json::parse(tenure::cli::status_json(states, now), nullptr, false);
  require(all.is_array() && all.size() == states.size(), "status is an array of all");
  for (const char c : tenure::cli::status_table(states, now)) {
    require(c == '\n' || static_cast<unsigned char>(c) >= 0x20,
            "a table holds no control character");
  }
  return 0;
}
