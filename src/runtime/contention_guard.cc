// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/contention_guard.h>

#include "runtime/contention_guard_state.h"

#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

namespace tenure {
namespace {

constexpr std::uint32_t kMostRewrites = 1000;
constexpr std::uint32_t kMostInAll = 1'000'000;

Result<void> between(const char* name, std::uint32_t value, std::uint32_t least,
                     std::uint32_t most) {
  if (value >= least && value <= most) return {};
  return fail(Errc::invalid_argument, std::string(name) + ": is " + std::to_string(value) +
                                          ", must be between " + std::to_string(least) + " and " +
                                          std::to_string(most));
}

Result<void> validate(const ContentionGuardOptions& options) {
  if (auto ok = between("rewrites", options.rewrites, 1, kMostRewrites); !ok) return ok;
  if (options.most != 0) {
    if (auto ok = between("most", options.most, options.rewrites, kMostInAll); !ok) return ok;
  }
  for (const auto& [name, value] :
       {std::pair("window", options.window), std::pair("quiet", options.quiet),
        std::pair("forget_after", options.forget_after)}) {
    if (value > Duration::zero()) continue;
    return fail(
        Errc::invalid_argument,
        std::string(name) + ": is " + std::to_string(value.count()) + " ns, must be more than 0");
  }
  return {};
}

}  // namespace

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
  return state_->wish(key, value, false);
}

void ContentionGuard::wrote(std::string_view key, std::string_view value) {
  state_->wish(key, value, true);
}

bool ContentionGuard::observed(std::string_view key, std::string_view value) {
  return state_->observed(key, value);
}

Work ContentionGuard::guard(std::string_view key, std::string_view value, Work work) {
  if (!work) return {};
  state_->wish(key, value, false);
  return [state = state_, key = std::string(key), value = std::string(value),
          work = std::move(work)]() mutable -> WorkResult {
    switch (state->may_run(key, value)) {
      case State::Now::gone:
        return {WorkEffect::none};
      case State::Now::wait:
        return {WorkEffect::none, true};
      case State::Now::run:
        break;
    }
    const WorkResult result = work();
    if (result.effect == WorkEffect::extend) state->note_written(key, value);
    return result;
  };
}

void ContentionGuard::forget(std::string_view key) {
  const std::lock_guard guard(state_->mutex);
  const auto found = state_->entries.find(key);
  if (found != state_->entries.end()) state_->erase(found);
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
  state_->sweep(state_->clock.now(), std::numeric_limits<int>::max());
  return state_->entries.size();
}

}  // namespace tenure
