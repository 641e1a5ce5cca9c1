// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/simulate_writers.h"

#include <unistd.h>

namespace tenure::cli {
namespace {

std::string all_commands() {
  std::string text;
  for (const CommandSpec& command : kCommands) text += std::string(command.name) + " ";
  return text + "--help --version";
}

std::string words_of(const CommandSpec& command) {
  std::string text;
  for (const OptionSpec& option : kOptions) {
    if ((option.commands & command.bit) != 0) text += "--" + std::string(option.name) + " ";
  }
  if (command.bit == kCompletion) text += "bash zsh fish ";
  if (command.bit == kSimulate) text += std::string(kSimulateWords) + " ";
  if ((command.bit & kStands) != 0) text += "-- ";
  return text + "--help";
}

std::string bash() {
  std::string text =
      "# bash completion for tenure: source <(tenure completion bash)\n"
      "_tenure() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
      "      if ((i + 1 == COMP_CWORD)); then\n"
      "        mapfile -t COMPREPLY < <(compgen -c -- \"$current\")\n"
      "      else\n"
      "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
      "      fi\n"
      "      return\n"
      "    fi\n"
      "  done\n"
      "  case $previous in\n"
      "    --log-level) words='error warning info debug' ;;\n"
      "    --name | --id | --store | --ttl | --grace | --timeout) return ;;\n"
      "    *)\n"
      "      case ${COMP_WORDS[1]} in\n";
  for (const CommandSpec& command : kCommands) {
    text += "        " + std::string(command.name) + ") words='" + words_of(command) + "' ;;\n";
  }
  text += "      esac ;;\n  esac\n  ((COMP_CWORD > 1)) || words='" + all_commands() + "'\n";
  return text +
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -F _tenure tenure\n";
}

// In single quotes for zsh and fish.
std::string in_quotes(std::string_view help) {
  std::string text;
  for (const char c : help) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text;
}

std::string zsh_option(const OptionSpec& option) {
  std::string help;
  for (const char c : in_quotes(option.help)) {
    if (c == '[' || c == ']' || c == ':') help += '\\';
    help += c;
  }
  std::string text = "        '--" + std::string(option.name) + "[" + help + "]";
  if (!option.value.empty()) text += ":" + std::string(option.value) + ":";
  if (option.name == "log-level") text += "(error warning info debug)";
  return text + "' \\\n";
}

std::string zsh() {
  std::string text =
      "#compdef tenure\n"
      "# zsh completion for tenure: tenure completion zsh > DIRECTORY-IN-FPATH/_tenure\n"
      "_tenure() {\n"
      "  local -a commands=(\n";
  for (const CommandSpec& command : kCommands) {
    text += "    '" + std::string(command.name) + ":" + in_quotes(command.help) + "'\n";
  }
  text +=
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  for (const CommandSpec& command : kCommands) {
    text += "    " + std::string(command.name) + ")\n      _arguments -S \\\n";
    for (const OptionSpec& option : kOptions) {
      if ((option.commands & command.bit) != 0) text += zsh_option(option);
    }
    if (command.bit == kCompletion) text += "        '1:shell:(bash zsh fish)' \\\n";
    if (command.bit == kSimulate) {
      text += "        '*:word:(" + std::string(kSimulateWords) + ")' \\\n";
    }
    if ((command.bit & kStands) != 0) text += "        '*::command:_normal' \\\n";
    text += "        '--help[Show help]' ;;\n";
  }
  return text +
         "  esac\n"
         "}\n"
         "compdef _tenure tenure\n";
}

std::string fish() {
  std::string text =
      "# fish completion for tenure: tenure completion fish | source\n"
      "complete -c tenure -f\n";
  for (const CommandSpec& command : kCommands) {
    const std::string name(command.name);
    text += "complete -c tenure -n __fish_use_subcommand -a " + name + " -d '" +
            in_quotes(command.help) + "'\n";
    const std::string seen = "complete -c tenure -n '__fish_seen_subcommand_from " + name + "'";
    for (const OptionSpec& option : kOptions) {
      if ((option.commands & command.bit) == 0) continue;
      text += seen + " -l " + std::string(option.name);
      if (!option.value.empty()) text += " -r";
      if (option.name == "log-level") text += " -a 'error warning info debug'";
      text += " -d '" + in_quotes(option.help) + "'\n";
    }
    if (command.bit == kCompletion) text += seen + " -a 'bash zsh fish'\n";
    if (command.bit == kSimulate) text += seen + " -a '" + std::string(kSimulateWords) + "'\n";
  }
  return text;
}

}  // namespace

int completion_command(const Settings& settings) {
  std::string script;
  if (settings.shell == "bash") script = bash();
  if (settings.shell == "zsh") script = zsh();
  if (settings.shell == "fish") script = fish();
  if (script.empty()) {
    Console(Level::error, "")
        .error("no completion for " + quoted(settings.shell) + "; bash, zsh and fish are accepted");
    return kUsage;
  }
  return write_all(STDOUT_FILENO, script) ? kOk : kUnavailable;
}

}  // namespace tenure::cli
