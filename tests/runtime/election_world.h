// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/election.h>
#include <tenure/memory_store.h>
#include <tenure/runtime.h>
#include <tenure/testkit/manual_clock.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenure::test {

/// A runtime without threads on a manual clock, and a memory store: everything that happens is
/// decided by the test.
struct ElectionWorld {
  using Span = std::chrono::milliseconds;

  explicit ElectionWorld(MemoryOptions options = {})
      : backend(MemoryBackend::make(clock, options)),
        runtime(*Runtime::create({.threads = Threads::caller, .clock = &clock, .seed = 7})),
        store(make_memory_store(backend, *runtime)) {}

  /// Lets everything that is due happen, at the present instant.
  void settle() const {
    while (runtime->poll() != 0) {
    }
  }

  /// Time passes in small steps, so that nothing is due for long before it is looked at.
  void pass(Duration span) {
    const Instant end = clock.now() + span;
    while (clock.now() < end) {
      clock.advance(std::min<Duration>(Span(20), end - clock.now()));
      settle();
    }
  }

  [[nodiscard]] Election candidate(std::string id, ElectionOptions options = {}) const {
    options.name = "billing";
    options.id = std::move(id);
    auto made = Election::create(*runtime, store, std::move(options));
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }

  [[nodiscard]] Election leader(std::string id, ElectionOptions options = {}) const {
    Election election = candidate(std::move(id), std::move(options));
    EXPECT_TRUE(election.start());
    settle();
    EXPECT_TRUE(election.held());
    return election;
  }

  testkit::ManualClock clock;
  std::shared_ptr<MemoryBackend> backend;
  std::unique_ptr<Runtime> runtime;
  std::shared_ptr<LeaseStore> store;
};

/// All unread events as short text: "elected 1", "lost 1 yielded", "holder b 2", "trouble
/// unavailable", "recovered unavailable", "stopped".
inline std::vector<std::string> read_events(Election& election) {
  struct Text {
    std::string operator()(const Elected& e) const {
      return "elected " + std::to_string(e.leadership.token());
    }
    std::string operator()(const Lost& e) const {
      return "lost " + std::to_string(e.token) + " " + std::string(to_string(e.reason));
    }
    std::string operator()(const HolderChanged& e) const {
      return "holder " + e.holder + " " + std::to_string(e.token);
    }
    std::string operator()(const Trouble& e) const {
      return (e.recovered ? "recovered " : "trouble ") + std::string(to_string(e.error.code));
    }
    std::string operator()(const Stopped& e) const {
      return e.error ? "stopped " + std::string(to_string(e.error->code)) : "stopped";
    }
  };
  std::vector<std::string> texts;
  while (auto event = election.next_event()) texts.push_back(std::visit(Text{}, event->body));
  return texts;
}

}  // namespace tenure::test
