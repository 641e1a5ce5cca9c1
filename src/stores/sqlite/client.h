// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>
#include <tenure/store.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "stores/sqlite/change_feed.h"
#include "stores/sqlite/engine.h"
#include "stores/sqlite/operation.h"
#include "stores/sqlite/strand.h"
#include "stores/sqlite/watch_hub.h"

namespace tenure::sqlite {

/// The loop's side of a store: sends requests to the strand, keeps their time limits, and decides
/// when to look for changes.
///
/// Thread-safety: everything on the loop, but engine().
class Client : public std::enable_shared_from_this<Client> {
 public:
  Client(std::shared_ptr<Engine> engine, Executor& executor);
  /// As shut(), with nobody to tell.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void submit(std::shared_ptr<Operation> operation);
  /// With an error in `good`, a watch that ends with that at once.
  [[nodiscard]] std::unique_ptr<Watch> watch(WatchRequest request, WatchHub::OnState on_state,
                                             const Result<void>& good);
  void shut(std::function<void()> done);

  [[nodiscard]] bool is_shut() const noexcept { return is_shut_; }
  [[nodiscard]] Executor& executor() noexcept { return executor_; }
  [[nodiscard]] const Engine& engine() const noexcept { return *engine_; }

 private:
  /// What workers need; it may outlive the client.
  struct Shared {
    Shared(Executor& loop, std::shared_ptr<Engine> files)
        : executor(loop), engine(std::move(files)), strand(std::make_shared<Strand>(loop)) {}

    Executor& executor;
    std::shared_ptr<Engine> engine;
    std::shared_ptr<Strand> strand;
    OperationQueue queue;
    std::atomic<bool> is_watched{false};
  };
  using Sighting = Result<Observation>;

  static void serve(const std::shared_ptr<Shared>& shared, const std::weak_ptr<Client>& client);
  void forget(const OperationQueue::Batch& batch);
  void keep_limits();

  void look(Depth depth);
  void prepare_feed();
  void open_feed();
  void begin_look();
  void end_look(Sighting seen);
  void arm_slow_look(bool failed);
  void arm_expiry(Instant when);
  void hear(Stir stir);
  void look_for_deaths(std::size_t step);

  Executor& executor_;
  std::shared_ptr<Engine> engine_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<WatchHub> hub_;

  std::unordered_map<const Operation*, std::shared_ptr<Operation>> in_flight_;
  std::unique_ptr<Executor::Handle> limit_timer_;
  Instant armed_limit_ = kNever;

  std::unique_ptr<ChangeFeed> feed_;
  std::unique_ptr<Executor::Handle> feed_timer_;
  std::unique_ptr<Executor::Handle> slow_timer_;
  std::unique_ptr<Executor::Handle> expiry_timer_;
  std::unique_ptr<Executor::Handle> death_timer_;
  Instant armed_expiry_ = kNever;
  std::optional<Depth> wanted_look_;
  bool is_looking_ = false;
  bool any_held_ = true;
  bool is_shut_ = false;
};

}  // namespace tenure::sqlite
