// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/writer_lease.h>

#include "runtime/writer_lease_engine.h"

#include <cmath>
#include <string>
#include <sys/random.h>
#include <utility>

namespace tenure {
namespace {

constexpr std::uint32_t kMostSteps = 64;
constexpr std::size_t kMostWorkers = 256;

Result<void> at_least_zero(const char* name, Duration value) {
  if (value >= Duration::zero()) return {};
  return fail(Errc::invalid_argument, std::string(name) + ": is " + std::to_string(value.count()) +
                                          " ns, must be 0 or more");
}

Result<void> validate(const WriterLeaseOptions& options) {
  if (options.lease <= Duration::zero()) {
    return fail(Errc::invalid_argument,
                "lease: is " + std::to_string(options.lease.count()) + " ns, must be more than 0");
  }
  if (auto ok = at_least_zero("retry_interval", options.retry_interval); !ok) return ok;
  if (auto ok = at_least_zero("backoff.first", options.backoff.first); !ok) return ok;
  if (auto ok = at_least_zero("stop_limit", options.stop_limit); !ok) return ok;
  if (!std::isfinite(options.backoff.factor) || options.backoff.factor < 1.0) {
    return fail(
        Errc::invalid_argument,
        "backoff.factor: is " + std::to_string(options.backoff.factor) + ", must be 1 or more");
  }
  if (!(options.backoff.jitter >= 0.0 && options.backoff.jitter <= 1.0)) {
    return fail(Errc::invalid_argument, "backoff.jitter: is " +
                                            std::to_string(options.backoff.jitter) +
                                            ", must be between 0 and 1");
  }
  if (options.backoff.steps > kMostSteps) {
    return fail(Errc::invalid_argument, "backoff.steps: is " +
                                            std::to_string(options.backoff.steps) +
                                            ", must be between 0 and 64");
  }
  if (options.workers > kMostWorkers) {
    return fail(Errc::invalid_argument,
                "workers: is " + std::to_string(options.workers) + ", must be between 0 and 256");
  }
  return {};
}

Result<std::uint64_t> draw_seed() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof(seed), 0) != static_cast<ssize_t>(sizeof(seed))) {
    return fail(Errc::unavailable, "the operating system gave no random seed");
  }
  return seed;
}

// In a forked child threads, locks and descriptors are the parent's: they are left as they are.
tl::unexpected<Error> forked_child() {
  return fail(Errc::closed, "this is a forked child; the writer lease is its parent's");
}

// The handle keeps it meanwhile, since work that is waited for may use it.
void leave_or_end(const std::shared_ptr<runtime::WriterLeaseEngine>& engine) noexcept {
  if (engine == nullptr) return;
  if (engine->in_forked_child()) {
    (void)new std::shared_ptr<runtime::WriterLeaseEngine>(engine);
  } else {
    engine->end();
  }
}

}  // namespace

Result<WriterLease> WriterLease::create(WriterLeaseOptions options) {
  if (auto ok = validate(options); !ok) return tl::unexpected(ok.error());
  const Result<std::uint64_t> seed = options.seed != 0 ? options.seed : draw_seed();
  if (!seed) return tl::unexpected(seed.error());
  auto engine = std::make_shared<runtime::WriterLeaseEngine>(options, *seed);
  if (engine->in_forked_child()) return fail(Errc::unavailable, "no memory, or a fatal fault");
  if (auto started = engine->start(); !started) {
    engine->end();
    return tl::unexpected(started.error());
  }
  return WriterLease(std::move(engine));
}

WriterLease::WriterLease(std::shared_ptr<runtime::WriterLeaseEngine> engine) noexcept
    : engine_(std::move(engine)) {}

WriterLease::~WriterLease() { leave_or_end(engine_); }

WriterLease::WriterLease(WriterLease&&) noexcept = default;

WriterLease& WriterLease::operator=(WriterLease&& other) noexcept {
  if (this == &other) return *this;
  leave_or_end(engine_);
  engine_ = std::move(other.engine_);
  return *this;
}

Result<void> WriterLease::try_work(std::string_view key, Work work) {
  if (engine_->in_forked_child()) return forked_child();
  return engine_->try_work(key, std::move(work));
}
bool WriterLease::extend(std::string_view key) {
  return !engine_->in_forked_child() && engine_->extend(key);
}
std::size_t WriterLease::extend_all(std::span<const std::string_view> keys) {
  return engine_->in_forked_child() ? 0 : engine_->extend_all(keys);
}
bool WriterLease::remove(std::string_view key) {
  return !engine_->in_forked_child() && engine_->remove(key);
}
void WriterLease::expire() {
  if (!engine_->in_forked_child()) engine_->expire();
}
std::size_t WriterLease::size() const { return engine_->in_forked_child() ? 0 : engine_->size(); }

// What these run may destroy the handle: they keep the engine.
Result<bool> WriterLease::wait() { return wait_until(kForever); }
Result<bool> WriterLease::wait_until(Duration limit) {
  if (engine_->in_forked_child()) return forked_child();
  const auto engine = engine_;
  return engine->wait(limit);
}
Result<void> WriterLease::stop(Duration limit) {
  if (engine_->in_forked_child()) return forked_child();
  const auto engine = engine_;
  return engine->stop(limit);
}
std::size_t WriterLease::poll() {
  if (engine_->in_forked_child()) return 0;
  const auto engine = engine_;
  return engine->poll();
}

WriterState WriterLease::state() const noexcept {
  return engine_->in_forked_child() ? WriterState::following : engine_->state();
}
WriterStatus WriterLease::status() const {
  return engine_->in_forked_child() ? WriterStatus{WriterState::following} : engine_->status();
}
WriterCounters WriterLease::counters() const {
  return engine_->in_forked_child() ? WriterCounters{} : engine_->counters();
}
void WriterLease::on_state_change(std::function<void(WriterState)> observer) {
  if (!engine_->in_forked_child()) engine_->on_state_change(std::move(observer));
}
int WriterLease::fd() const noexcept { return engine_->in_forked_child() ? -1 : engine_->fd(); }
Instant WriterLease::next_due() const {
  return engine_->in_forked_child() ? kNever : engine_->next_due();
}

}  // namespace tenure
