// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/runtime.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/list_store.h"
#include "cli/report.h"

#include <chrono>
#include <unistd.h>

namespace tenure::cli {
namespace {

constexpr Duration kDefaultTimeout = std::chrono::seconds(5);

}  // namespace

int status_command(const Settings& settings) {
  Console console(settings.level, "");
  const auto give_up = [&console](const Error& error) {
    console.error(error.message);
    return exit_code_of(error);
  };
  auto runtime = Runtime::create({.worker_threads = 1, .callback_threads = 1});
  if (!runtime) return give_up(runtime.error());
  auto store = (*runtime)->open_store(settings.store, {.create = false});
  if (!store) return give_up(store.error());
  const auto states = list_store(**runtime, *store, settings.name.value_or(""),
                                 settings.timeout.value_or(kDefaultTimeout));
  if (!states) return give_up(states.error());
  const Instant now = (*runtime)->clock().now();
  const std::string text = settings.json ? status_json(*states, now) : status_table(*states, now);
  const bool written = write_all(STDOUT_FILENO, text);
  // Left open on purpose: closing would only cost time, and the process ends here.
  static_cast<void>(runtime->release());
  return written ? kOk : kUnavailable;
}

}  // namespace tenure::cli
