// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

// Every command and every option once: the parser, --help and the shell completions are made from
// these tables.
namespace tenure::cli {

enum CommandBit : unsigned {
  kRun = 1U << 0U,
  kLock = 1U << 1U,
  kWatch = 1U << 2U,
  kStatus = 1U << 3U,
  kDoctor = 1U << 4U,
  kVersion = 1U << 5U,
  kCompletion = 1U << 6U,
  kSimulate = 1U << 7U,
};
inline constexpr unsigned kStands = kRun | kLock;
inline constexpr unsigned kReads = kWatch | kStatus;

struct CommandSpec {
  CommandBit bit;
  std::string_view name;
  std::string_view help;
  std::string_view example;
};

inline constexpr std::array kCommands{
    CommandSpec{kRun, "run", "Stand for election; run a command only while leading",
                "tenure run --name billing -- ./billing-worker --verbose"},
    CommandSpec{kLock, "lock", "Run a command once while holding the election (as flock(1) does)",
                "tenure lock --name nightly --timeout 10m -- ./backup.sh"},
    CommandSpec{kWatch, "watch", "Print each change of leadership as it happens",
                "tenure watch --json"},
    CommandSpec{kStatus, "status", "Show who leads; read-only", "tenure status --name billing"},
    CommandSpec{kDoctor, "doctor", "Check store, clock and settings; say what is wrong",
                "tenure doctor --store sqlite:/var/lib/app/tenure.db"},
    CommandSpec{kVersion, "version", "Print the version", "tenure version"},
    CommandSpec{kCompletion, "completion", "Print a completion script: bash, zsh or fish",
                "source <(tenure completion bash)"},
    CommandSpec{kSimulate, "simulate", "Run the real machines in virtual time; draw what happens",
                "tenure simulate writers --svg writers.svg"},
};

struct OptionSpec {
  std::string_view name;   // without the two dashes
  char letter;             // short form, or 0
  std::string_view value;  // what stands for the value in --help; empty: a flag
  unsigned commands;
  std::string_view help;
  std::string_view variable;  // stands in for it; empty: none
};

inline constexpr std::array kOptions{
    OptionSpec{"name", 'n', "NAME", kStands | kReads, "The election's name", ""},
    OptionSpec{"store", 's', "URL", kStands | kReads | kDoctor,
               "Where lock records are kept, as sqlite:PATH", "TENURE_STORE"},
    OptionSpec{"id", 'i', "ID", kStands | kDoctor,
               "What people read as the holder (default HOST:PID)", "TENURE_ID"},
    OptionSpec{"ttl", 't', "D", kStands | kDoctor,
               "How long a term outlives its last renewal (default 15s)", "TENURE_TTL"},
    OptionSpec{"grace", 'g', "D", kStands | kDoctor,
               "Time between asking the command to end and killing it (default ttl/5)", ""},
    OptionSpec{"timeout", 'w', "D", kStands | kStatus,
               "Give up when this has passed without success", ""},
    OptionSpec{"once", '1', "", kRun, "One term, one run; exit with the command's code", ""},
    OptionSpec{"json", 'j', "", kReads | kDoctor, "Machine-readable output", ""},
    OptionSpec{"quiet", 'q', "", kStands | kReads, "Errors only", ""},
    OptionSpec{"verbose", 'v', "", kStands | kReads, "Say more", ""},
    OptionSpec{"log-level", 'l', "LEVEL", kStands | kReads, "error, warning, info or debug", ""},
};

}  // namespace tenure::cli
