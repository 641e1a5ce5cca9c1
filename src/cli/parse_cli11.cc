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

const OptionSpec* spelled(std::string_view word) {
  const auto* const found =
      std::find_if(kOptions.begin(), kOptions.end(), [word](const OptionSpec& option) {
        return word == "--" + std::string(option.name) ||
               (option.letter != 0 && word == std::string("-") + option.letter);
      });
  return found == kOptions.end() ? nullptr : found;
}

// "-5" is a value that is then judged; "-x" and "--x" are what follows a value that was forgotten.
bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9');
}

// CLI11 takes the word after "--name=" as the value, and any word as the truth of a flag. One word
// with "=" becomes two, and what no value can be is refused; says why.
std::optional<std::string> separate(std::vector<std::string>& words) {
  std::vector<std::string> apart;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string before = word.substr(0, equals);
    const OptionSpec* const option = spelled(before);
    apart.push_back(equals != std::string::npos && option != nullptr ? before : word);
    if (option == nullptr) continue;
    if (option->value.empty()) {
      if (equals != std::string::npos) return before + " is given or not; it takes no value";
    } else if (equals != std::string::npos) {
      apart.push_back(word.substr(equals + 1));
    } else if (i + 1 == words.size() || looks_like_option(words[i + 1])) {
      const std::string value(option->value);
      return before + " needs a value: --" + std::string(option->name) + "=" + value;
    } else {
      apart.push_back(words[++i]);
    }
  }
  words = std::move(apart);
  return std::nullopt;
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
      return refuse(error);
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
    const CommandSpec* const command = chosen();
    if (command == nullptr) return app_.help();
    std::string text = subs_.at(command)->help("tenure");
    constexpr std::string_view kOptionsWord = "[OPTIONS]";
    const auto at = text.find(kOptionsWord);
    if ((command->bit & kStands) != 0 && at != std::string::npos) {
      text.insert(at + kOptionsWord.size(), " -- CMD [ARGS...]");
    }
    return text;
  }

  const CommandSpec* chosen() const {
    const auto found = std::find_if(subs_.begin(), subs_.end(),
                                    [](const auto& entry) { return entry.second->parsed(); });
    return found == subs_.end() ? nullptr : found->first;
  }

  Finished refuse(const CLI::ParseError& error) const {
    const CommandSpec* const command = chosen();
    std::string text = error.what();
    const std::vector<std::string> rest = app_.remaining(true);
    if (command != nullptr && (command->bit & kStands) != 0 && !rest.empty()) {
      text += "\nThe command to run follows --, as in: " + std::string(command->example);
    }
    const std::string name = command != nullptr ? " " + std::string(command->name) : "";
    return Finished{kUsage, text + "\nTry: tenure" + name + " --help"};
  }

  RawOptions collect() const {
    RawOptions raw;
    const CommandSpec* const command = chosen();
    if (command == nullptr) return raw;
    raw.command = command->bit;
    for (std::size_t i = 0; i < kOptions.size(); ++i) {
      const OptionSpec& option = kOptions.at(i);
      if ((option.commands & command->bit) == 0) continue;
      if (subs_.at(command)->count("--" + std::string(option.name)) > 0) {
        raw.given.at(i) = values_.at(i);
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
  if (auto refusal = separate(words)) return Finished{kUsage, *std::move(refusal)};
  try {
    return Parser().parse(std::move(words));
  } catch (const std::exception& error) {
    return Finished{kUsage, std::string("cannot read the command line: ") + error.what()};
  }
}

}  // namespace tenure::cli
