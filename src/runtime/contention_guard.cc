// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/contention_guard.h>

#include "core/lease/contention.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace tenure {
namespace {

constexpr std::uint32_t kMostRewrites = 1000;
constexpr std::uint32_t kMostTrials = 1000;
constexpr int kSweptAtOnce = 2;

Result<void> validate(const ContentionGuardOptions& options) {
  if (options.rewrites < 1 || options.rewrites > kMostRewrites) {
    return fail(Errc::invalid_argument, "rewrites: is " + std::to_string(options.rewrites) +
                                            ", must be between 1 and 1000");
  }
  if (options.trials > kMostTrials) {
    return fail(Errc::invalid_argument,
                "trials: is " + std::to_string(options.trials) + ", must be between 0 and 1000");
  }
  for (const auto& [name, value] :
       {std::pair("window", options.window), std::pair("quiet", options.quiet)}) {
    if (value > Duration::zero()) continue;
    return fail(
        Errc::invalid_argument,
        std::string(name) + ": is " + std::to_string(value.count()) + " ns, must be more than 0");
  }
  return {};
}

}  // namespace

struct ContentionGuard::State {
  struct Entry {
    std::string wanted;
    std::uint64_t version = 0;  // of `wanted`
    core::Contention contention;
  };
  struct Check {
    Instant when;
    std::string key;
  };

  explicit State(ContentionGuardOptions given)
      : options(std::move(given)),
        terms{options.rewrites, options.window, options.quiet, options.trials},
        clock(options.clock != nullptr ? *options.clock : system_clock()) {}

  [[nodiscard]] bool same(std::string_view a, std::string_view b) const {
    return options.same ? options.same(a, b) : a == b;
  }

  bool wish(std::string_view key, std::string_view value);
  bool observed(std::string_view key, std::string_view value);
  void sweep(Instant now, int most);

  const ContentionGuardOptions options;
  const core::ContentionTerms terms;
  Clock& clock;
  std::mutex mutex;
  std::map<std::string, Entry, std::less<>> entries;
  std::deque<Check> checks;  // when an entry may be forgotten, roughly in order of time
};

// The caller's comparison runs without the lock, so what it compared with may have changed
// meanwhile: then it is asked again.
bool ContentionGuard::State::wish(std::string_view key, std::string_view value) {
  std::optional<std::pair<std::uint64_t, bool>> compared;
  for (;;) {
    std::string wanted;
    std::uint64_t version = 0;
    {
      const std::lock_guard guard(mutex);
      const Instant now = clock.now();
      sweep(now, kSweptAtOnce);
      auto found = entries.find(key);
      if (found == entries.end()) {
        found = entries.emplace(key, Entry{}).first;
        found->second.wanted = value;
        found->second.contention.touch(now);
        checks.push_back({found->second.contention.forgettable(terms), std::string(key)});
        return true;
      }
      Entry& entry = found->second;
      if (compared && compared->first == entry.version) {
        if (!compared->second) entry.contention.on_new_wish(now);
        if (entry.wanted != value) {
          entry.wanted = value;
          ++entry.version;
        }
        entry.contention.touch(now);
        return !entry.contention.contended(now);
      }
      wanted = entry.wanted;
      version = entry.version;
    }
    compared.emplace(version, same(wanted, value));
  }
}

bool ContentionGuard::State::observed(std::string_view key, std::string_view value) {
  std::optional<std::pair<std::uint64_t, bool>> compared;
  for (;;) {
    std::string wanted;
    std::uint64_t version = 0;
    {
      const std::lock_guard guard(mutex);
      const Instant now = clock.now();
      sweep(now, kSweptAtOnce);
      const auto found = entries.find(key);
      if (found == entries.end()) return false;
      Entry& entry = found->second;
      if (compared && compared->first == entry.version) {
        if (compared->second) {
          entry.contention.touch(now);
          return true;
        }
        if (!entry.contention.on_foreign(terms, now)) return false;
        break;
      }
      wanted = entry.wanted;
      version = entry.version;
    }
    compared.emplace(version, same(wanted, value));
  }
  if (options.on_contended) options.on_contended(key);
  return false;
}

void ContentionGuard::State::sweep(Instant now, int most) {
  for (; most > 0 && !checks.empty() && checks.front().when <= now; --most) {
    Check check = std::move(checks.front());
    checks.pop_front();
    const auto found = entries.find(check.key);
    if (found == entries.end()) continue;
    const Instant when = found->second.contention.forgettable(terms);
    if (when <= now) {
      entries.erase(found);
    } else {
      checks.push_back({when, std::move(check.key)});
    }
  }
}

Result<ContentionGuard> ContentionGuard::create(ContentionGuardOptions options) {
  if (auto ok = validate(options); !ok) return tl::unexpected(ok.error());
  return ContentionGuard(std::make_shared<State>(std::move(options)));
}

ContentionGuard::ContentionGuard(std::shared_ptr<State> state) noexcept
    : state_(std::move(state)) {}
ContentionGuard::~ContentionGuard() = default;
ContentionGuard::ContentionGuard(ContentionGuard&&) noexcept = default;
ContentionGuard& ContentionGuard::operator=(ContentionGuard&&) noexcept = default;

bool ContentionGuard::may_write(std::string_view key, std::string_view value) {
  return state_->wish(key, value);
}

void ContentionGuard::wrote(std::string_view key, std::string_view value) {
  state_->wish(key, value);
}

bool ContentionGuard::observed(std::string_view key, std::string_view value) {
  return state_->observed(key, value);
}

Work ContentionGuard::guard(std::string_view key, std::string_view value, Work work) {
  state_->wish(key, value);
  return [state = state_, key = std::string(key), value = std::string(value),
          work = std::move(work)]() mutable -> WorkResult {
    if (!state->wish(key, value)) return {WorkEffect::none, true};
    const WorkResult result = work();
    if (result.effect == WorkEffect::extend) state->wish(key, value);
    return result;
  };
}

void ContentionGuard::forget(std::string_view key) {
  const std::lock_guard guard(state_->mutex);
  const auto found = state_->entries.find(key);
  if (found != state_->entries.end()) state_->entries.erase(found);
}

bool ContentionGuard::is_contended(std::string_view key) const {
  const std::lock_guard guard(state_->mutex);
  const auto found = state_->entries.find(key);
  return found != state_->entries.end() && found->second.contention.contended(state_->clock.now());
}

std::vector<std::string> ContentionGuard::contended() const {
  const std::lock_guard guard(state_->mutex);
  const Instant now = state_->clock.now();
  std::vector<std::string> keys;
  for (const auto& [key, entry] : state_->entries) {
    if (entry.contention.contended(now)) keys.push_back(key);
  }
  return keys;
}

std::size_t ContentionGuard::size() const {
  const std::lock_guard guard(state_->mutex);
  state_->sweep(state_->clock.now(), static_cast<int>(state_->checks.size()));
  return state_->entries.size();
}

}  // namespace tenure
