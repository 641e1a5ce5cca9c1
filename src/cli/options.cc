// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <tenure/store.h>

#include "cli/duration.h"
#include "cli/exit_code.h"
#include "cli/parse_cli11.h"
#include "core/url.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace tenure::cli {
namespace {

constexpr std::size_t index_of(std::string_view name) {
  for (std::size_t i = 0; i < kOptions.size(); ++i) {
    if (kOptions.at(i).name == name) return i;
  }
  return kOptions.size();
}

// A value with the name under which the user gave it, for messages.
struct Given {
  std::string source;
  std::string value;
};

using Refusal = std::optional<std::string>;

// Fills Settings from what was given; the first refusal ends it.
class Judge {
 public:
  Judge(const RawOptions& raw, std::vector<std::string> program, bool has_program)
      : raw_(raw), has_program_(has_program) {
    settings_.command = raw.command;
    settings_.program = std::move(program);
  }

  std::variant<Settings, Finished> judge() {
    using Step = Refusal (Judge::*)();
    constexpr std::array kSteps{&Judge::names, &Judge::spans, &Judge::levels, &Judge::program,
                                &Judge::relations};
    for (const Step step : kSteps) {
      if (Refusal refusal = (this->*step)()) return Finished{kUsage, *std::move(refusal)};
    }
    return std::move(settings_);
  }

 private:
  // The option, else the variable that stands in for it; an empty variable is as none.
  [[nodiscard]] std::optional<Given> find(std::string_view name) const {
    const std::size_t i = index_of(name);
    const OptionSpec& option = kOptions.at(i);
    if (raw_.given.at(i)) return Given{"--" + std::string(name), *raw_.given.at(i)};
    if (option.variable.empty() || (option.commands & raw_.command) == 0) return std::nullopt;
    const char* value = std::getenv(std::string(option.variable).c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return Given{std::string(option.variable), value};
  }

  [[nodiscard]] bool flag(std::string_view name) const {
    return raw_.given.at(index_of(name)).has_value();
  }

  [[nodiscard]] bool stands() const { return (raw_.command & kStands) != 0; }

  Refusal names() {
    if (const auto name = find("name")) {
      if (const auto ok = check_name("--name", name->value); !ok) return ok.error().message;
      settings_.election.name = name->value;
      settings_.name = name->value;
    } else if (stands()) {
      return "--name is missing: the election to stand in, as in --name billing";
    }
    if (const auto id = find("id")) {
      if (const auto ok = check_name(id->source, id->value); !ok) return ok.error().message;
      settings_.election.id = id->value;
    } else if (stands()) {
      settings_.election.id = default_id();
    }
    if (const auto store = find("store")) {
      if (store->value.empty()) {
        return store->source + " is empty; a store is written sqlite:PATH";
      }
      if (const auto url = core::parse_url(store->value); url && url->scheme == "memory") {
        return store->source + " is " + quoted(store->value) +
               ": a memory of this process alone, in which nobody competes; use sqlite:PATH";
      }
      settings_.store = store->value;
    }
    settings_.once = flag("once") || raw_.command == kLock;
    settings_.json = flag("json");
    settings_.shell = raw_.positional.value_or("");
    return std::nullopt;
  }

  static std::string default_id() {
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
    std::string id = host[0] != '\0' ? host.data() : "localhost";
    id += ':';
    id += std::to_string(getpid());
    return check_name("id", id) ? id : "localhost:" + std::to_string(getpid());
  }

  Refusal spans() {
    std::optional<Duration> ttl;
    for (const auto& [name, span] : {std::pair{"ttl", &ttl},
                                     {"grace", &settings_.election.grace},
                                     {"timeout", &settings_.timeout}}) {
      const auto given = find(name);
      if (!given) continue;
      *span = parse_duration(given->value);
      if (!*span) {
        return given->source + " is " + quoted(given->value) + "; " + std::string(kDurationRule);
      }
    }
    settings_.election.ttl = ttl.value_or(settings_.election.ttl);
    return std::nullopt;
  }

  Refusal levels() {
    // Jobs under cron or in scripts should not make mail out of a success.
    const bool silent = settings_.once && isatty(STDERR_FILENO) == 0;
    settings_.level = silent ? Level::warning : Level::info;
    if (flag("quiet") && flag("verbose")) return "--quiet and --verbose exclude each other";
    if (flag("quiet")) settings_.level = Level::error;
    if (flag("verbose")) settings_.level = Level::debug;
    const auto given = find("log-level");
    if (!given) return std::nullopt;
    constexpr std::array<std::string_view, 4> kNames{"error", "warning", "info", "debug"};
    const auto* const found = std::find(kNames.begin(), kNames.end(), given->value);
    if (found == kNames.end()) {
      return "--log-level is " + quoted(given->value) +
             "; error, warning, info and debug are accepted";
    }
    settings_.level = static_cast<Level>(found - kNames.begin());
    return std::nullopt;
  }

  Refusal program() {
    if (!stands()) {
      if (!has_program_) return std::nullopt;
      return "nothing may follow -- here; only run and lock take a command";
    }
    if (settings_.program.empty()) {
      return "the command is missing; it follows --, as in: tenure run --name billing -- CMD ARGS";
    }
    if (settings_.program.front().empty()) return "the command after -- is empty";
    return std::nullopt;
  }

  Refusal relations() {
    const bool timed = stands() || raw_.command == kDoctor;
    if (!timed) return std::nullopt;
    ElectionOptions& election = settings_.election;
    const Given grace = find("grace").value_or(Given{});
    if (election.grace) {
      if (*election.grace > election.ttl / 2) {
        return grace.source + " is " + quoted(grace.value) + "; at most half of the ttl (" +
               format_duration(election.ttl) + ") is accepted: the rest is needed to renew";
      }
      // Two whole tries must fit between a renewal's due time and the step-down.
      const Duration left = election.ttl - *election.grace;
      election.renew_interval = left * 4 / 10;
      election.request_limit = left / 4;
    }
    ElectionOptions checked = election;
    if (checked.name.empty()) checked.name = "any";
    const auto timing = validate(checked);
    if (!timing) {
      const auto ttl = find("ttl");
      return (ttl ? ttl->source + " " + quoted(ttl->value) + ": " : "") + timing.error().message;
    }
    settings_.timing = *timing;
    return std::nullopt;
  }

  const RawOptions& raw_;
  bool has_program_;
  Settings settings_;
};

}  // namespace

std::variant<Settings, Finished> parse_command_line(int argc, char** argv) {
  std::vector<std::string> words;
  std::vector<std::string> program;
  bool dashes = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (dashes) {
      program.emplace_back(word);
    } else if (word == "--") {
      dashes = true;
    } else {
      words.emplace_back(word);
    }
  }
  auto raw = read_words(std::move(words));
  if (auto* finished = std::get_if<Finished>(&raw)) return std::move(*finished);
  return Judge(std::get<RawOptions>(raw), std::move(program), dashes).judge();
}

}  // namespace tenure::cli
