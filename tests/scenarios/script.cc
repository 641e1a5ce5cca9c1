// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/script.h"

#include "core/spans.h"

#include <array>

namespace tenure::core {

namespace {

constexpr Instant kStart = at(hours(1));

Duration span_of(const std::string& text) {
  std::size_t end = 0;
  const double number = std::stod(text, &end);
  const std::string unit = text.substr(end);
  const std::map<std::string, double> units{{"ns", 1},  {"us", 1e3}, {"ms", 1e6},
                                            {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
  const auto found = units.find(unit);
  if (found == units.end()) {
    ADD_FAILURE() << "not a span: " << text;
    return {};
  }
  return scale(Duration(1), number * found->second);
}

Errc error_of(const std::string& text) {
  for (int code = 0; code <= static_cast<int>(Errc::timed_out); ++code) {
    if (to_string(static_cast<Errc>(code)) == text) return static_cast<Errc>(code);
  }
  ADD_FAILURE() << "not an error: " << text;
  return Errc::unavailable;
}

std::string revision(std::uint64_t number) {
  return number == 0 ? "whatever is ours" : "rev=" + std::to_string(number);
}

}  // namespace

std::string Script::play(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() == ' ') continue;
    out_ << line << '\n';
    if (line.empty() || line.front() == '#') continue;
    obey(line);
    if (world_) print_new_effects();
  }
  return out_.str();
}

void Script::obey(const std::string& line) {
  std::istringstream in(line);
  std::string verb;
  in >> verb;
  Words words;
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      words[""] = word;
    } else {
      words[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  if (verb == "options") {
    options(words);
  } else if (verb.find("acquire") == 0 || verb.find("renew") == 0 || verb.find("release") == 0) {
    answer(verb, words);
  } else {
    act(verb, words);
  }
}

void Script::options(const Words& words) {
  for (const auto& [name, value] : words) {
    if (name == "ttl")
      setup_.options.ttl = span_of(value);
    else if (name == "grace")
      setup_.options.grace = span_of(value);
    else if (name == "drift")
      setup_.options.drift = std::stod(value);
    else if (name == "give-up")
      setup_.options.give_up_after = span_of(value);
    else if (name == "work")
      setup_.tracks_work = value == "tracked";
    else if (name == "overrun" && value == "abort")
      setup_.options.on_overrun = Overrun::abort;
    else if (name == "expiry" && value == "observers")
      setup_.expiry = ExpiryBy::observers;
    else
      ADD_FAILURE() << "no such option: " << name << "=" << value;
  }
}

MachineWorld& Script::world() {
  if (!world_) world_ = std::make_unique<MachineWorld>(setup_);
  return *world_;
}

Record Script::holder(const std::string& text) const {
  const std::size_t slash = text.find('/');
  const std::string name = text.substr(0, slash);
  const std::uint64_t number = slash == std::string::npos ? 1 : std::stoull(text.substr(slash + 1));
  if (name == "us") return record_of("session-a", number, "A");
  return record_of("session-of-" + name, number, name);
}

void Script::answer(const std::string& verb, const Words& words) {
  MachineWorld& w = world();
  const auto word = [&words](const char* name) {
    const auto found = words.find(name);
    return found == words.end() ? std::string() : found->second;
  };
  const Duration ttl = words.count("ttl") != 0 ? span_of(word("ttl")) : Duration(seconds(15));
  if (verb == "acquire-ours") {
    const bool told = words.count("sent") != 0;
    w.granted(std::stoull(word("rev")), told ? kStart + span_of(word("sent")) : w.sent_at, ttl);
  } else if (verb == "acquire-held") {
    w.held_by(holder(word("by")), word("") == "in-line");
  } else if (verb == "acquire-fails") {
    w.acquire_fails(error_of(word("")));
  } else if (verb == "renew-ok") {
    w.renewed(ttl);
  } else if (verb == "renew-gone") {
    w.renew_gone(words.count("holder") != 0 ? std::optional(holder(word("holder"))) : std::nullopt);
  } else if (verb == "renew-fails") {
    w.renew_fails(error_of(word("")));
  } else if (verb == "release-ok") {
    w.released();
  } else if (verb == "release-none") {
    w.released(false);
  } else if (verb == "release-fails") {
    w.release_fails(error_of(word("")));
  } else {
    ADD_FAILURE() << "no such answer: " << verb;
  }
}

void Script::act(const std::string& verb, const Words& words) {
  MachineWorld& w = world();
  const auto word = [&words](const char* name) {
    const auto found = words.find(name);
    return found == words.end() ? std::string() : found->second;
  };
  const std::map<std::string, std::function<void()>> verbs{
      {"start", [&] { w.start(); }},
      {"at", [&] { w.run_to(kStart + span_of(word(""))); }},
      {"suspended-until",
       [&] {
         w.sleep_to((kStart + span_of(word(""))).time_since_epoch());
         out_ << "    " << time(w.now) << "  held() is " << (w.held() ? "true" : "false") << '\n';
         w.tick();
       }},
      {"tick", [&] { w.tick(); }},
      {"yield", [&] { w.yield(); }},
      {"stop", [&] { w.stop(span_of(word("limit"))); }},
      {"work-ended", [&] { w.work_ended(); }},
      {"watch-fails", [&] { w.watch_fails(error_of(word(""))); }},
      {"watch", [&] {
         const std::string who = word("holder");
         const std::uint64_t as_of = std::stoull(word("as-of"));
         const bool in_line = word("") != "not-in-line";
         w.sees(who.empty() ? std::nullopt : std::optional(holder(who)), as_of, in_line);
       }}};
  const auto found = verbs.find(verb);
  if (found == verbs.end()) {
    ADD_FAILURE() << "no such verb: " << verb;
    return;
  }
  found->second();
}

std::string Script::time(Instant when) const { return describe(saturating_between(kStart, when)); }

void Script::print_new_effects() {
  for (; shown_ < world_->log.size(); ++shown_) {
    const auto& [when, effect] = world_->log[shown_];
    out_ << "    " << time(when) << "  " << show(effect) << '\n';
  }
}

std::string Script::show(const Effect& effect) const {
  const auto number = [](std::uint64_t token) { return std::to_string(token); };
  return std::visit(
      Overloaded{
          [&](const SendAcquire& one) {
            const auto& judged = one.judged_expired;
            return "-> acquire, limit " + time(one.limit) +
                   (judged ? ", judged expired: " + judged->id + "/" + number(judged->revision)
                           : std::string());
          },
          [&](const SendRenew& one) {
            return "-> renew " + revision(one.record.revision) + ", limit " + time(one.limit);
          },
          [&](const SendRelease& one) {
            return "-> release " + revision(one.revision) + ", limit " + time(one.limit);
          },
          [](const OpenWatch&) { return std::string("-> open the watch"); },
          [](const CloseWatch&) { return std::string("-> close the watch"); },
          [&](const BeginTerm& one) {
            return "ELECTED, token " + number(one.token) + ", held until " + time(one.deadline);
          },
          [&](const MoveDeadline& one) { return "held until " + time(one.deadline); },
          [](const TellWork&) { return std::string("the work is asked to stop"); },
          [&](const EndTerm& one) {
            return "LOST, token " + number(one.token) + ", " + std::string(to_string(one.reason)) +
                   ": " + one.detail;
          },
          [&](const ReportHolder& one) {
            return one.token == 0 ? std::string("nobody holds")
                                  : one.holder + " holds, token " + number(one.token);
          },
          [](const ReportTrouble& one) {
            return (one.recovered ? "recovered from " : "trouble: ") +
                   std::string(to_string(one.error.code)) + ": " + one.error.message;
          },
          [](const Finish& one) {
            return one.error ? "ENDED, " + std::string(to_string(one.error->code)) + ": " +
                                   one.error->message
                             : std::string("ENDED");
          },
          [](const AbortProcess&) { return std::string("ABORT the process"); }},
      effect);
}

}  // namespace tenure::core
