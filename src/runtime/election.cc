// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/election.h>
#include <tenure/runtime.h>

#include "core/spans.h"
#include "runtime/election_driver.h"
#include "runtime/engine.h"
#include "runtime/real_time.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

namespace tenure {

namespace {

constexpr std::chrono::seconds kDestructorPatience{1};

std::string default_id() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') return "host";
  std::string id(host.data());
  if (!check_name("the host's name", id)) id = "host";
  constexpr std::size_t kRoomForPid = 16;
  if (id.size() > 255 - kRoomForPid) id.resize(255 - kRoomForPid);
  return id + ":" + std::to_string(::getpid());
}

std::string new_session(Executor& executor) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string session;
  for (int half = 0; half < 2; ++half) {
    std::uint64_t bits = executor.random();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4U) session += kDigits[bits & 15U];
  }
  return session;
}

}  // namespace

struct Election::Impl {
  std::shared_ptr<runtime::ElectionDriver> driver;
};

Result<Election> Election::create(Runtime& runtime, std::shared_ptr<LeaseStore> store,
                                  ElectionOptions options) {
  if (!store) return fail(Errc::invalid_argument, "the election was given no store");
  auto timing = validate(options);
  if (!timing) return tl::unexpected(timing.error());
  const StoreTraits& traits = store->traits();
  if (options.ttl < traits.min_ttl) {
    return fail(Errc::invalid_argument, "ttl is " + core::describe(options.ttl) + "; a " +
                                            traits.kind + " store accepts " +
                                            core::describe(traits.min_ttl) + " or more");
  }
  if (options.id.empty()) options.id = default_id();
  auto impl = std::make_shared<Impl>();
  impl->driver =
      std::make_shared<runtime::ElectionDriver>(runtime::engine_of(runtime), std::move(store),
                                                std::move(options), *timing, new_session(runtime));
  return Election(std::move(impl));
}

Election::Election(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Election::Election(Election&&) noexcept = default;

Election& Election::operator=(Election&& other) noexcept {
  if (this != &other) {
    const Election former(std::move(*this));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Election::~Election() {
  if (!impl_) return;
  if (impl_->driver->in_forked_child()) {
    // Its threads and locks are the parent's: leave it as it is.
    (void)new std::shared_ptr<Impl>(impl_);
    return;
  }
  const Timing timing = impl_->driver->timing();
  const auto patience = runtime::real_time_after(kDestructorPatience);
  // A destructor has nobody to tell; what did not end in time lapses by its ttl.
  (void)impl_->driver->stop(timing.grace + timing.request_limit, patience);
  impl_->driver->abandon();
}

Result<void> Election::start() { return impl_->driver->start(); }

Result<void> Election::on_term(std::function<void(Leadership, TermEnd)> begin) {
  return impl_->driver->set_begin(std::move(begin),
                                  runtime::ElectionDriver::Where::on_callback_thread);
}

Result<void> Election::lead(std::function<void(Leadership)> work) {
  return impl_->driver->lead(work);
}

void Election::yield() { impl_->driver->yield(); }
Result<void> Election::stop(Duration limit) { return impl_->driver->stop(limit); }
bool Election::held() const noexcept { return impl_->driver->held(); }
Leadership Election::leadership() const { return impl_->driver->leadership(); }
std::string Election::holder() const { return impl_->driver->holder(); }
Phase Election::phase() const noexcept { return impl_->driver->phase(); }
std::optional<Event> Election::next_event() { return impl_->driver->next_event(); }
std::optional<Event> Election::wait_event(Duration limit) {
  return impl_->driver->wait_event(limit);
}
int Election::event_fd() { return impl_->driver->event_fd(); }
Timing Election::timing() const { return impl_->driver->timing(); }

}  // namespace tenure
