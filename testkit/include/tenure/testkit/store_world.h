// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>
#include <tenure/store.h>
#include <tenure/testkit/manual_clock.h>
#include <tenure/testkit/manual_executor.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace tenure::testkit {

/// What the conformance suite needs to know about a store: how to make clients of one backend (a
/// server, a database file), how to let its loop run and its time pass, and what its author can do
/// to the backend from outside. Each test makes a world of its own with an empty backend.
///
/// Derive from ManualWorld or RealTimeWorld and write open(); override what differs.
class StoreWorld {
 public:
  virtual ~StoreWorld() = default;

  /// What every store of this world runs on.
  [[nodiscard]] virtual Executor& executor() = 0;

  /// One more client, as another process would open it. Called on the loop. Never null.
  [[nodiscard]] virtual std::shared_ptr<LeaseStore> open() = 0;

  /// The client's process dies: no close(), no release(). Called on the loop.
  virtual void kill(std::shared_ptr<LeaseStore> store) { store.reset(); }

  /// Runs `task` on the loop and returns when it has run; pumps as little as that needs.
  virtual void on_loop(const std::function<void()>& task) = 0;

  /// Runs the loop until `condition` holds (true) or `real_limit` of real time is over (false).
  [[nodiscard]] virtual bool pump(const std::function<bool()>& condition, Duration real_limit) = 0;

  /// Lets `time` pass, for the executor and for the backend, with the loop running.
  virtual void pass(Duration time) = 0;

  /// A ttl that is comfortable for this store; in real time as short as it can be.
  [[nodiscard]] virtual Duration ttl() const { return std::chrono::seconds(15); }

  /// How long after its ttl a record may still be shown or refuse others.
  [[nodiscard]] virtual Duration slack() const { return Duration::zero(); }

  /// How exactly a test can hit an instant: 1 ns on a manual clock.
  [[nodiscard]] virtual Duration tick() const { return Duration(1); }

  /// How much real time one answer or one watch update may take before the test fails.
  [[nodiscard]] virtual Duration patience() const { return std::chrono::seconds(10); }

  /// @name Hooks that not every world has. False: cannot; the tests that need it are skipped.
  /// @{

  /// What has been requested is carried out, then `time` passes without the loop running (as in a
  /// suspend), and only then are answers seen.
  virtual bool carry_out_then_pass(Duration time) {
    (void)time;
    return false;
  }
  /// The holder's record is removed behind everybody's back.
  virtual bool force_delete(const std::string& election) {
    (void)election;
    return false;
  }
  /// The holder's record is replaced by one of somebody else, with a session of its own.
  virtual bool force_takeover(const std::string& election) {
    (void)election;
    return false;
  }
  /// While stalled, the backend answers nothing.
  virtual bool set_stalled(bool stalled) {
    (void)stalled;
    return false;
  }
  /// Every watch loses its connection: it may go on (present state again) or end with an error.
  virtual bool cut_watches() { return false; }
  /// Everybody's wall clock is stepped.
  virtual bool step_wall(Duration step) {
    (void)step;
    return false;
  }
  /// @}
};

/// A world whose time stands still until the test lets it pass. Real files and sockets are fine:
/// waiting is done in poll(2).
class ManualWorld : public StoreWorld {
 public:
  [[nodiscard]] Executor& executor() override { return executor_; }

  void on_loop(const std::function<void()>& task) override { task(); }

  [[nodiscard]] bool pump(const std::function<bool()>& condition, Duration real_limit) override {
    return executor_.wait_until(condition, real_limit);
  }

  void pass(Duration time) override { executor_.advance(time); }

  bool carry_out_then_pass(Duration time) override {
    while (executor_.run_held_blocking_without_answer()) {
    }
    clock_.advance(time);
    executor_.deliver_held_posts();
    return true;
  }

  bool step_wall(Duration step) override {
    clock_.advance_wall(step);
    return true;
  }

 protected:
  ManualClock clock_;
  ManualExecutor executor_{clock_};
};

/// A world on a clock that nobody can move, for stores whose server has its own.
class RealTimeWorld : public StoreWorld {
 public:
  /// `clock`: system_clock(), usually.
  explicit RealTimeWorld(Clock& clock) : executor_(clock) {}

  [[nodiscard]] Executor& executor() override { return executor_; }

  void on_loop(const std::function<void()>& task) override { task(); }

  [[nodiscard]] bool pump(const std::function<bool()>& condition, Duration real_limit) override {
    return executor_.wait_until(condition, real_limit);
  }

  void pass(Duration time) override {
    bool passed = false;
    const auto timer =
        executor_.at(saturating_add(executor_.clock().now(), time), [&passed] { passed = true; });
    (void)executor_.wait_until([&passed] { return passed; }, time + patience());
  }

  [[nodiscard]] Duration ttl() const override { return std::chrono::milliseconds(400); }
  [[nodiscard]] Duration slack() const override { return std::chrono::milliseconds(100); }
  [[nodiscard]] Duration tick() const override { return std::chrono::milliseconds(150); }

 protected:
  ManualExecutor executor_;
};

}  // namespace tenure::testkit
