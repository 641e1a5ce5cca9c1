// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/memory_store.h>

#include "stores/memory/table.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::memory {

/// What a backend tells a store object; called under the backend's lock, from any thread, so it
/// may do no more than post.
class Listener {
 public:
  virtual ~Listener() = default;
  /// These elections have changed.
  virtual void on_change(const std::set<std::string>& elections) = 0;
  /// Something ends at `when`, by the backend's clock: somebody must look then.
  virtual void on_expiry(Instant when) = 0;
};

/// The table with its lock, its clock and those who want to know.
class Backend final : public MemoryBackend {
 public:
  Backend(Clock& clock, MemoryOptions options, Revision revision);

  [[nodiscard]] const MemoryOptions& options() const noexcept override;
  bool force_delete(std::string_view election) override;
  Record force_takeover(std::string_view election, std::string_view id, std::string_view session,
                        Duration ttl) override;
  [[nodiscard]] std::vector<ElectionState> elections() const override;

  [[nodiscard]] std::uint64_t join(Listener& listener);
  /// After it returned, the listener is not called any more.
  void leave(std::uint64_t client);

  [[nodiscard]] AcquireReply acquire(const AcquireRequest& request, std::uint64_t client);
  [[nodiscard]] RenewReply renew(const RenewRequest& request);
  [[nodiscard]] ReleaseReply release(const ReleaseRequest& request);
  [[nodiscard]] ElectionState state(std::string_view election, std::string_view session);
  [[nodiscard]] std::vector<std::string> names();

  /// Lets expire what has expired, tells everybody, and returns when to look again.
  Instant expire();

  [[nodiscard]] Clock& clock() const noexcept { return clock_; }

 private:
  // Takes the lock, runs `action` on the table at the present instant, and tells the listeners.
  template <class Action>
  auto with_table(Action action);
  void tell();

  Clock& clock_;
  mutable std::mutex mutex_;
  Table table_;
  std::uint64_t last_client_ = 0;
  std::map<std::uint64_t, Listener*> listeners_;
};

}  // namespace tenure::memory
