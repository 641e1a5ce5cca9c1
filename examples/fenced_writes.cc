// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0

/// A resource that refuses a former leader. The first leader is "paused" between asking whether it
/// leads and writing; meanwhile its term passes and another leads and writes. When it goes on, its
/// write comes with an old token and is refused: the only thing that can stop work in flight.
#include <tenure/election.h>
#include <tenure/fenced_resource.h>
#include <tenure/memory_store.h>
#include <tenure/runtime.h>
#include <tenure/testkit/manual_clock.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

/// A file server, a database, a device: whatever is written to. It lives with the writes.
class Ledger {
 public:
  tenure::Result<void> append(std::uint64_t token, const std::string& line) {
    return gate_.write(token, [&] { lines_.push_back(line); });
  }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }

 private:
  tenure::FencedResource gate_;
  std::vector<std::string> lines_;
};

void settle(tenure::Runtime& runtime) {
  while (runtime.poll() != 0) {
  }
}

}  // namespace

int main() {
  tenure::testkit::ManualClock clock;
  auto runtime = *tenure::Runtime::create({.threads = tenure::Threads::caller, .clock = &clock});
  const auto backend = tenure::MemoryBackend::make(clock);
  const auto store = tenure::make_memory_store(backend, *runtime);
  Ledger ledger;

  auto first = *tenure::Election::create(*runtime, store, {.name = "ledger", .id = "first"});
  (void)first.start();
  settle(*runtime);
  const tenure::Leadership paused = first.leadership();
  const bool asked = paused.held();
  std::printf("first asks: held=%s, token %llu\n", asked ? "true" : "false",
              static_cast<unsigned long long>(paused.token()));

  // ... and is paused for a minute before it writes.
  clock.advance(std::chrono::minutes(1));
  auto second = *tenure::Election::create(*runtime, store, {.name = "ledger", .id = "second"});
  (void)second.start();
  // The first one's own library would step down and stand again; here it is paused as a whole.
  while (!second.held()) {
    settle(*runtime);
    if (!second.held()) first.yield();
    clock.advance(std::chrono::milliseconds(100));
  }
  const auto wrote = ledger.append(second.leadership().token(), "written by the second");
  std::printf("second writes with token %llu: %s\n",
              static_cast<unsigned long long>(second.leadership().token()),
              wrote ? "accepted" : wrote.error().message.c_str());

  const auto late = ledger.append(paused.token(), "written by the first, a minute late");
  std::printf("first writes with token %llu: %s\n", static_cast<unsigned long long>(paused.token()),
              late ? "accepted" : late.error().message.c_str());

  const bool right = asked && wrote && !late && ledger.size() == 1 && !paused.held();
  return right ? 0 : 1;
}
