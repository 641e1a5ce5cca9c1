// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/memory/backend.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenure::memory {

/// One watch: what it wants and what it was told last. On the loop.
struct Watcher {
  WatchRequest request;
  std::function<void(Result<ElectionState>)> on_state;
  std::map<std::string, ElectionState> told;
  std::optional<Error> end;
  bool refused = false;
  bool alive = true;
};

/// The watches of one store object, and its timer for what expires.
class WatchHub final : public Listener, public std::enable_shared_from_this<WatchHub> {
 public:
  WatchHub(std::shared_ptr<Backend> backend, Executor& executor)
      : backend_(std::move(backend)), executor_(executor) {}

  void join() { client_ = backend_->join(*this); }
  /// The backend forgets this store. Twice is once.
  void leave();
  [[nodiscard]] std::uint64_t client() const { return client_; }

  /// With `refusal` the watch is told that and nothing else.
  [[nodiscard]] std::unique_ptr<Watch> watch(WatchRequest request,
                                             std::function<void(Result<ElectionState>)> on_state,
                                             std::optional<Error> refusal);
  /// Ends every watch with `error`, after what it has not been told yet.
  void end_all(const Error& error);

  /// Turns the instants of the backend's clock into those of this store's.
  void localize(Record& record) const;

  void on_change(const std::set<std::string>& elections) override;
  void on_expiry(Instant when) override;

 private:
  class Handle;

  void post_tell(const std::shared_ptr<Watcher>& watcher);
  void tell_changes();
  void tell(Watcher& watcher, const std::set<std::string>* only);
  void tell_one(Watcher& watcher, const std::string& election);
  void arm();
  [[nodiscard]] Duration ahead() const;

  std::shared_ptr<Backend> backend_;
  Executor& executor_;
  std::uint64_t client_ = 0;
  std::vector<std::shared_ptr<Watcher>> watchers_;
  std::unique_ptr<Executor::Handle> timer_;

  // What other threads touch, through the backend. Taken after the backend's lock, never before.
  std::mutex mutex_;
  std::set<std::string> changes_;
  Instant armed_for_ = kNever;  // by the backend's clock
};

}  // namespace tenure::memory
