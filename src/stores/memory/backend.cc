// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/memory/backend.h"

#include <type_traits>
#include <utility>

namespace tenure::memory {

Backend::Backend(Clock& clock, MemoryOptions options, Revision revision)
    : clock_(clock), table_(options, std::move(revision)) {}

template <class Action>
auto Backend::with_table(Action action) {
  const std::lock_guard lock(mutex_);
  auto result = action(table_, clock_.now());
  tell();
  return result;
}

void Backend::tell() {
  const auto changes = table_.take_changes();
  for (const auto& [client, listener] : listeners_) {
    if (!changes.empty()) listener->on_change(changes);
    listener->on_expiry(table_.next_expiry());
  }
}

const MemoryOptions& Backend::options() const noexcept { return table_.options(); }

bool Backend::force_delete(std::string_view election) {
  return with_table([&](Table& table, Instant now) { return table.force_delete(election, now); });
}

Record Backend::force_takeover(std::string_view election, std::string_view id,
                               std::string_view session, Duration ttl) {
  Record record;
  record.election = election;
  record.id = id;
  record.session = session;
  record.ttl = ttl;
  return with_table([&](Table& table, Instant now) { return table.force_takeover(record, now); });
}

std::vector<ElectionState> Backend::elections() const {
  // A copy shows what has expired without letting anything happen.
  const std::lock_guard lock(mutex_);
  Table present = table_;
  present.expire(clock_.now());
  std::vector<ElectionState> states;
  for (const std::string& name : present.names()) states.push_back(present.state(name, {}));
  return states;
}

std::uint64_t Backend::join(Listener& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.emplace(++last_client_, &listener);
  return last_client_;
}

void Backend::leave(std::uint64_t client) {
  const std::lock_guard lock(mutex_);
  if (listeners_.erase(client) == 0) return;
  table_.client_gone(client, clock_.now());
  tell();
}

AcquireReply Backend::acquire(const AcquireRequest& request, std::uint64_t client) {
  return with_table([&](Table& table, Instant now) { return table.acquire(request, client, now); });
}

RenewReply Backend::renew(const RenewRequest& request) {
  return with_table([&](Table& table, Instant now) { return table.renew(request, now); });
}

ReleaseReply Backend::release(const ReleaseRequest& request) {
  return with_table(
      [&](Table& table, Instant now) { return ReleaseReply{table.release(request, now)}; });
}

ElectionState Backend::state(std::string_view election, std::string_view session) {
  return with_table([&](Table& table, Instant now) {
    table.expire(now);
    return table.state(election, session);
  });
}

std::vector<std::string> Backend::names() {
  const std::lock_guard lock(mutex_);
  return table_.names();
}

Instant Backend::expire() {
  return with_table([](Table& table, Instant now) {
    table.expire(now);
    return table.next_expiry();
  });
}

}  // namespace tenure::memory

namespace tenure {
namespace {

struct Named {
  std::weak_ptr<memory::Backend> backend;
  memory::Revision revision = std::make_shared<std::atomic<std::uint64_t>>(0);
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Named, std::less<>> backends;
};

// Leaked on purpose: a store that is destroyed by another static object must still find it.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

}  // namespace

std::shared_ptr<MemoryBackend> MemoryBackend::make(Clock& clock, MemoryOptions options) {
  return std::make_shared<memory::Backend>(clock, options,
                                           std::make_shared<std::atomic<std::uint64_t>>(0));
}

Result<std::shared_ptr<MemoryBackend>> MemoryBackend::named(std::string_view name, Clock& clock) {
  if (!name.empty()) {
    if (auto checked = check_name("the name of the memory store", name); !checked) {
      return tl::unexpected(std::move(checked.error()));
    }
  }
  const std::lock_guard lock(registry().mutex);
  Named& entry = registry().backends[std::string(name)];
  auto backend = entry.backend.lock();
  if (backend == nullptr) {
    backend = std::make_shared<memory::Backend>(clock, MemoryOptions{}, entry.revision);
    entry.backend = backend;
  } else if (&backend->clock() != &clock) {
    return fail(Errc::invalid_argument, "memory:" + std::string(name) +
                                            " is in use on another clock; stores that share it "
                                            "must share their clock");
  }
  return backend;
}

}  // namespace tenure
