// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/runtime.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/report.h"
#include "cli/watch_inbox.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace tenure::cli {
namespace {

constexpr Duration kFirstWait = std::chrono::milliseconds(100);
constexpr Duration kLongestWait = std::chrono::seconds(5);
constexpr Duration kListLimit = std::chrono::seconds(5);

class Watcher {
 public:
  Watcher(const Settings& settings, Console& console, Runtime& runtime,
          std::shared_ptr<LeaseStore> store)
      : settings_(settings),
        console_(console),
        runtime_(runtime),
        store_(std::move(store)),
        timer_(runtime.clock().make_timer()) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  int run() {
    if (inbox_->bell() < 0 || !timer_) {
      console_.error("no file descriptors left; raise the limit (ulimit -n)");
      return kUnavailable;
    }
    if (settings_.name) log_.expect(*settings_.name);
    list();
    while (!code_) step();
    return *code_;
  }

 private:
  // What is there before the watch begins, so that what it shows can be told from what happens.
  void list() {
    const Instant limit = saturating_add(runtime_.clock().now(), kListLimit);
    runtime_.post([store = store_, inbox = inbox_, election = settings_.name.value_or(""), limit] {
      store->list({election, limit},
                  [inbox](Result<std::vector<ElectionState>> list) { inbox->put_list(list); });
    });
  }

  void begin() {
    runtime_.post(
        [store = store_, inbox = inbox_, watch = watch_, election = settings_.name.value_or("")] {
          *watch = store->watch(
              {election}, [inbox](Result<ElectionState> state) { inbox->put(std::move(state)); });
        });
  }

  void step() {
    std::array<pollfd, 3> ready{pollfd{inbox_->bell(), POLLIN, 0}, pollfd{timer_->fd(), POLLIN, 0},
                                pollfd{STDOUT_FILENO, 0, 0}};
    poll(ready.data(), ready.size(), -1);
    if ((ready[2].revents & (POLLERR | POLLHUP)) != 0) code_ = kSignalBase + SIGPIPE;
    if (ready[1].revents != 0) {
      timer_->arm(kNever);
      listed_ ? begin() : list();
    }
    for (auto& state : inbox_->take()) handle(state);
    if (!listed_ && inbox_->is_listed()) {
      listed_ = true;
      for (const std::string& name : inbox_->listed_names()) log_.expect(name);
      begin();
    }
  }

  void handle(const Result<ElectionState>& state) {
    const WallTime time = runtime_.clock().wall_now();
    if (state) {
      wait_ = kFirstWait;
      if (const auto change = log_.note(*state, time)) print(*change);
      return;
    }
    const Error& error = state.error();
    print({time, settings_.name.value_or(""), "error", std::nullopt, std::nullopt, error.message});
    const bool hopeless = error.code == Errc::corrupt || error.code == Errc::unsupported ||
                          error.code == Errc::invalid_argument || error.code == Errc::closed;
    if (hopeless) {
      console_.error(error.message);
      code_ = exit_code_of(error);
      return;
    }
    timer_->arm(saturating_add(runtime_.clock().now(), wait_));
    wait_ = std::min(wait_ * 2, kLongestWait);
  }

  void print(const Change& change) {
    const std::string text = settings_.json ? change_json(change) : change_line(change);
    if (!write_all(STDOUT_FILENO, text) && !code_) code_ = kSignalBase + SIGPIPE;
  }

  const Settings& settings_;
  Console& console_;
  Runtime& runtime_;
  std::shared_ptr<LeaseStore> store_;
  std::shared_ptr<WatchInbox> inbox_ = std::make_shared<WatchInbox>();
  std::shared_ptr<std::unique_ptr<Watch>> watch_ = std::make_shared<std::unique_ptr<Watch>>();
  std::unique_ptr<Timer> timer_;
  ChangeLog log_;
  Duration wait_ = kFirstWait;
  bool listed_ = false;
  std::optional<int> code_;
};

}  // namespace

int watch_command(const Settings& settings) {
  Console console(settings.level, "");
  auto runtime = Runtime::create({.worker_threads = 1, .callback_threads = 1});
  if (!runtime) {
    console.error(runtime.error().message);
    return kUnavailable;
  }
  auto store = (*runtime)->open_store(settings.store, {.create = false});
  if (!store) {
    console.error(store.error().message);
    return exit_code_of(store.error());
  }
  const int code = Watcher(settings, console, **runtime, *store).run();
  // The watch lives on the loop; the process ends here and takes both along.
  static_cast<void>(runtime->release());
  static_cast<void>(new std::shared_ptr<LeaseStore>(*store));
  return code;
}

}  // namespace tenure::cli
