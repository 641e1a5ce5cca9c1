// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/parse_cli11.h"

#include "cli/exit_code.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <exception>
#include <map>
#include <string_view>
#include <utility>

namespace tenure::cli {
namespace {

std::string spelling(const OptionSpec& option) {
  std::string text;
  if (option.letter != 0) text = std::string("-") + option.letter + ",";
  return text + "--" + std::string(option.name);
}

std::string help_of(const OptionSpec& option) {
  std::string text(option.help);
  if (!option.variable.empty()) text += "; or set " + std::string(option.variable);
  return text;
}

std::string footer_of(const CommandSpec& command) {
  std::string text;
  if ((command.bit & kStands) != 0) text += "Exit codes:\n";
  for (const ExitMeaning& exit : kExitMeanings) {
    if ((command.bit & kStands) == 0) break;
    std::string code(exit.code);
    code.resize(7, ' ');
    text += "  " + code + std::string(exit.meaning) + "\n";
  }
  return text + "Example: " + std::string(command.example);
}

bool is_command(std::string_view word) {
  return std::any_of(kCommands.begin(), kCommands.end(),
                     [word](const CommandSpec& command) { return command.name == word; });
}

// One parse: CLI11 writes into `values` while it reads.
class Parser {
 public:
  Parser() : app_("Leader election for programs and scripts", "tenure") {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", [] { return std::string(); });
    app_.footer("tenure COMMAND --help says more. Times are written 500ms, 15s, 2m, 1h.");
    for (const CommandSpec& command : kCommands) add(command);
  }

  std::variant<RawOptions, Finished> parse(std::vector<std::string> words) {
    // CLI11 takes them from the back.
    std::reverse(words.begin(), words.end());
    try {
      app_.parse(std::move(words));
    } catch (const CLI::CallForVersion&) {
      return RawOptions{};  // as `tenure version`
    } catch (const CLI::CallForHelp&) {
      return Finished{kOk, help()};
    } catch (const CLI::CallForAllHelp&) {
      return Finished{kOk, help()};
    } catch (const CLI::ParseError& error) {
      return Finished{kUsage, std::string(error.what()) + "\nTry: tenure" + chosen() + " --help"};
    }
    return collect();
  }

 private:
  void add(const CommandSpec& command) {
    CLI::App* const sub = app_.add_subcommand(std::string(command.name), std::string(command.help));
    sub->footer(footer_of(command));
    subs_[&command] = sub;
    for (std::size_t i = 0; i < kOptions.size(); ++i) {
      const OptionSpec& option = kOptions.at(i);
      if ((option.commands & command.bit) == 0) continue;
      if (option.value.empty()) {
        sub->add_flag(spelling(option), flags_.at(i), help_of(option));
      } else {
        sub->add_option(spelling(option), values_.at(i), help_of(option))
            ->type_name(std::string(option.value));
      }
    }
    if (command.bit == kCompletion) {
      sub->add_option("SHELL", shell_, "bash, zsh or fish")->required()->type_name("");
    }
  }

  std::string help() const {
    for (const auto& [command, sub] : subs_) {
      if (!sub->parsed()) continue;
      std::string text = sub->help("tenure");
      constexpr std::string_view kOptionsWord = "[OPTIONS]";
      const auto at = text.find(kOptionsWord);
      if ((command->bit & kStands) != 0 && at != std::string::npos) {
        text.insert(at + kOptionsWord.size(), " -- CMD [ARGS...]");
      }
      return text;
    }
    return app_.help();
  }

  std::string chosen() const {
    for (const auto& [command, sub] : subs_) {
      if (sub->parsed()) return " " + std::string(command->name);
    }
    return {};
  }

  RawOptions collect() const {
    RawOptions raw;
    for (const auto& [command, sub] : subs_) {
      if (!sub->parsed()) continue;
      raw.command = command->bit;
      for (std::size_t i = 0; i < kOptions.size(); ++i) {
        const OptionSpec& option = kOptions.at(i);
        if ((option.commands & command->bit) == 0) continue;
        if (sub->count("--" + std::string(option.name)) > 0) raw.given.at(i) = values_.at(i);
      }
    }
    if (!shell_.empty()) raw.positional = shell_;
    return raw;
  }

  CLI::App app_;
  std::map<const CommandSpec*, CLI::App*> subs_;
  std::array<std::string, kOptions.size()> values_;
  std::array<bool, kOptions.size()> flags_{};
  std::string shell_;
};

}  // namespace

std::variant<RawOptions, Finished> read_words(std::vector<std::string> words) {
  if (!words.empty() && !words.front().starts_with('-') && !is_command(words.front())) {
    return Finished{kUsage,
                    "there is no command " + cli::quoted(words.front()) + "\nTry: tenure --help"};
  }
  try {
    return Parser().parse(std::move(words));
  } catch (const std::exception& error) {
    return Finished{kUsage, std::string("cannot read the command line: ") + error.what()};
  }
}

}  // namespace tenure::cli
