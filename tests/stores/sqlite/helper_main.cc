// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The other process in tests: does one thing, says on its standard output what came of it, and
// waits to be ended.
#include <tenure/clock.h>
#include <tenure/sqlite_store.h>
#include <tenure/testkit/manual_executor.h>

#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::test {
namespace {

using std::chrono::seconds;

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

// Until the test says so, or is gone.
void wait_for_line() {
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') {
  }
}

std::string error_text(const Error& error) {
  return std::string(to_string(error.code)) + " " + error.message;
}

struct Client {
  explicit Client(const std::string& path, bool create = true) {
    auto opened = open_sqlite_store({.path = path, .create = create}, executor);
    if (opened) {
      store = std::move(*opened);
    } else {
      error = error_text(opened.error());
    }
  }

  std::optional<Record> acquire(const std::string& session) {
    AcquireRequest request;
    request.election = "e";
    request.id = session;
    request.session = session;
    request.ttl = seconds(15);
    std::optional<Result<AcquireReply>> reply;
    store->acquire(request, [&](Result<AcquireReply> answer) { reply = std::move(answer); });
    if (!executor.wait_until([&] { return reply.has_value(); }, seconds(20)) || !*reply) {
      error = reply && !*reply ? error_text(reply->error()) : "no answer";
      return std::nullopt;
    }
    if (!(*reply)->ours) error = "held by another";
    return (*reply)->ours ? (*reply)->record : std::nullopt;
  }

  // Ends when the process is ended.
  void stay() {
    (void)executor.wait_until([] { return false; }, std::chrono::hours(1));
  }

  testkit::ManualExecutor executor{system_clock(), static_cast<std::uint64_t>(::getpid())};
  std::unique_ptr<LeaseStore> store;
  std::string error;
};

int open_at_once(const std::string& path) {
  say("ready");
  wait_for_line();
  Client client(path);
  if (client.store == nullptr) {
    say(client.error);
    return 1;
  }
  const auto record = client.acquire(std::to_string(::getpid()));
  say(record ? "leads " + std::to_string(record->token) : "open, " + client.error);
  wait_for_line();
  return 0;
}

int hold(const std::string& path, bool with_child) {
  Client client(path);
  const auto record = client.store == nullptr ? std::nullopt : client.acquire("holder");
  if (!record) {
    say(client.error);
    return 1;
  }
  std::string child;
  if (with_child) {
    // As a command that outlives its tenure does, which was given the descriptor.
    const pid_t pid = ::fork();
    if (pid == 0) {
      while (true) ::pause();
    }
    child = " " + std::to_string(pid);
  }
  say("leads " + std::to_string(record->token) + child);
  client.stay();
  return 0;
}

// Leads and releases, over and over; says by the boot clock when each release was answered.
int take_turns(const std::string& path) {
  Client client(path);
  while (client.store != nullptr) {
    const auto record = client.acquire("turns");
    if (!record) break;
    say("leads " + std::to_string(record->token));
    wait_for_line();
    std::optional<Result<ReleaseReply>> reply;
    client.store->release({record->election, record->session, record->revision, kNever},
                          [&](Result<ReleaseReply> answer) { reply = std::move(answer); });
    if (!client.executor.wait_until([&] { return reply.has_value(); }, seconds(20))) break;
    say("released " + std::to_string(system_clock().now().time_since_epoch().count()));
    wait_for_line();
  }
  say(client.error);
  return 1;
}

// Takes the database's write lock and keeps it, if need be stopped.
int keep_write_lock(const std::string& path, bool stopped) {
  sqlite3* handle = nullptr;
  if (sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK ||
      sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) {
    say(std::string("not locked: ") + sqlite3_errmsg(handle));
    sqlite3_close(handle);
    return 1;
  }
  say("locked");
  if (stopped) std::raise(SIGSTOP);
  wait_for_line();
  sqlite3_close(handle);
  return 0;
}

int main_of(std::string_view verb, const std::string& path) {
  if (verb == "open") return open_at_once(path);
  if (verb == "hold") return hold(path, false);
  if (verb == "hold-with-child") return hold(path, true);
  if (verb == "take-turns") return take_turns(path);
  if (verb == "lock") return keep_write_lock(path, false);
  if (verb == "lock-and-stop") return keep_write_lock(path, true);
  say("what is " + std::string(verb) + "?");
  return 2;
}

}  // namespace
}  // namespace tenure::test

int main(int count, char** arguments) {
  if (count != 3) return 2;
  return tenure::test::main_of(arguments[1], arguments[2]);
}
