// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/runtime.h>
#ifdef TENURE_STORE_SQLITE
#include <tenure/sqlite_store.h>
#endif

#include "cli/commands.h"
#include "cli/doctor_checks.h"
#include "cli/exit_code.h"
#include "cli/list_store.h"
#include "core/url.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

namespace tenure::cli {
namespace {

// The database file that a store URL means; nothing if it means none.
std::optional<std::string> file_of(const std::string& store) {
#ifdef TENURE_STORE_SQLITE
  if (store.empty()) {
    auto path = default_sqlite_path();
    return path ? std::optional(*path) : std::nullopt;
  }
#endif
  const auto url = core::parse_url(store);
  if (!url || url->scheme != "sqlite") return std::nullopt;
  return url->path;
}

const char* advice_on(Errc code) {
  switch (code) {
    case Errc::corrupt:
      return "name another file with --store; this one was not touched";
    case Errc::permission_denied:
      return "correct the permissions of its folder, or name another store";
    case Errc::invalid_argument:
    case Errc::unsupported:
      return "correct --store";
    default:
      return "mend what the message says, and ask again: the store itself may be in order";
  }
}

// `usable`: what was seen of its folder lets a candidate open it. A database that is there is then
// opened as candidates open it, and asked for a write that changes nothing; else it is only read.
Finding check_store(const Settings& settings, bool usable) {
  const std::string name = settings.store.empty() ? "the default store" : settings.store;
  const auto bad = [&name](const Error& error) {
    return Finding{"store", Verdict::bad, name + ": " + error.message, advice_on(error.code)};
  };
  const auto path = file_of(settings.store);
  const bool missing = path && access(path->c_str(), F_OK) != 0;
  const bool as_candidate = path && usable && !missing;
  auto runtime = Runtime::create({.worker_threads = 1, .callback_threads = 1});
  if (!runtime) return bad(runtime.error());
  auto store = (*runtime)->open_store(settings.store, {.create = as_candidate});
  const auto states = store ? list_store(**runtime, *store, "", std::chrono::seconds(5))
                            : tl::unexpected(store.error());
  const auto written = states && as_candidate
                           ? try_to_write(**runtime, *store, settings.timing.request_limit)
                           : Result<void>();
  static_cast<void>(runtime->release());
  if (!states) return bad(states.error());
  if (path && !usable) {
    return {"store", Verdict::bad,
            *path + (missing ? " is not there, and no candidate can create it"
                             : " can be read, but no candidate can open it"),
            "mend what is said of its folder and file system, or name another store"};
  }
  if (missing) {
    return {"store", Verdict::fine, *path + " is not there yet; the first candidate creates it",
            ""};
  }
  if (!written) {
    return {"store", Verdict::bad,
            *path + " can be read, but not written now: " + written.error().message,
            "look for a process that keeps it locked, or is stopped in the middle of a write"};
  }
  return {"store", Verdict::fine,
          (path ? *path : name) + " answers; elections: " + std::to_string(states->size()), ""};
}

std::string_view word_for(Verdict verdict) {
  if (verdict == Verdict::fine) return "ok";
  return verdict == Verdict::warning ? "warning" : "bad";
}

std::string as_json(const std::vector<Finding>& findings) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"verdict", word_for(finding.verdict)},
                    {"found", finding.found},
                    {"advice", finding.advice.empty() ? Json() : Json(finding.advice)}});
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    std::string word(word_for(finding.verdict));
    word.resize(9, ' ');
    text += word + finding.check + ": " + shown(finding.found) + "\n";
    if (!finding.advice.empty()) text += "         -> " + shown(finding.advice) + "\n";
  }
  return text;
}

}  // namespace

int doctor_command(const Settings& settings) {
  std::vector<Finding> findings = check_machine();
  findings.push_back(check_timing(settings));
  bool usable = true;
  if (const auto path = file_of(settings.store)) {
    for (Finding& finding : check_folder_of(*path, settings.store.empty(), settings.timing)) {
      usable = usable && finding.verdict != Verdict::bad;
      findings.push_back(std::move(finding));
    }
  }
  findings.push_back(check_store(settings, usable));
  const bool written =
      write_all(STDOUT_FILENO, settings.json ? as_json(findings) : as_text(findings));
  const bool bad = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.verdict == Verdict::bad;
  });
  return bad || !written ? kUnavailable : kOk;
}

}  // namespace tenure::cli
