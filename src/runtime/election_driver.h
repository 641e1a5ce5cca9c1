// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/election/election.h"
#include "runtime/event_queue.h"
#include "runtime/real_time.h"

#include <tenure/election.h>
#include <tenure/executor.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace tenure::runtime {

class Engine;

/// Drives one election machine: feeds it answers and the time, carries out its effects in order,
/// and publishes what it says. The machine, the watch and the timer belong to the loop; everything
/// that users read is kept where no loop is needed.
class ElectionDriver : public std::enable_shared_from_this<ElectionDriver> {
 public:
  using Begin = std::function<void(Leadership, TermEnd)>;

  ElectionDriver(std::shared_ptr<Engine> engine, std::shared_ptr<LeaseStore> store,
                 ElectionOptions options, Timing timing, std::string session);
  ElectionDriver(const ElectionDriver&) = delete;
  ElectionDriver& operator=(const ElectionDriver&) = delete;
  ~ElectionDriver() = default;

  // From any thread.
  Result<void> start();
  /// What to do when a term begins: `where` it is called. Errors: closed once started.
  enum class Where { on_callback_thread, on_loop };
  [[nodiscard]] Result<void> set_begin(Begin begin, Where where);
  Result<void> lead(const std::function<void(Leadership)>& work);
  void yield();
  /// Asks for the end; waits for it unless this thread is what the end has to wait for.
  /// `patience` bounds the wait in real time too, for a destructor whose clock may stand still.
  Result<void> stop(Duration limit, std::optional<RealTime> patience = {});
  [[nodiscard]] std::optional<Event> next_event();
  [[nodiscard]] std::optional<Event> wait_event(Duration limit);
  [[nodiscard]] int event_fd();
  [[nodiscard]] bool held() const noexcept;
  [[nodiscard]] Leadership leadership() const;
  [[nodiscard]] std::string holder() const;
  [[nodiscard]] Phase phase() const noexcept { return phase_.load(); }
  [[nodiscard]] Timing timing() const;
  [[nodiscard]] const ElectionOptions& options() const noexcept { return options_; }
  [[nodiscard]] Engine& engine() const noexcept { return *engine_; }
  [[nodiscard]] bool in_forked_child() const noexcept { return *in_parent_ == 0; }
  /// Nobody will ask any more: frees what belongs to the loop, on the loop.
  void abandon();

 private:
  // On the loop: one input, then everything that follows from it.
  template <class Input>
  void feed(Input input);
  void carry_out();
  void publish();
  void arm();
  void drop_watch();

  void perform(core::SendAcquire& effect);
  void perform(core::SendRenew& effect);
  void perform(core::SendRelease& effect);
  void perform(core::OpenWatch& effect);
  void perform(core::CloseWatch& effect);
  void perform(core::BeginTerm& effect);
  void perform(core::MoveDeadline& effect);
  void perform(core::TellWork& effect);
  void perform(core::EndTerm& effect);
  void perform(core::ReportHolder& effect);
  void perform(core::ReportTrouble& effect);
  void perform(core::Finish& effect);
  [[noreturn]] void perform(core::AbortProcess& effect);

  void ask_to_stop(Duration limit);
  void report(EventBody body);
  void tell_work();
  [[nodiscard]] TermEnd end_of(std::uint64_t token);
  void begin_work();
  [[nodiscard]] Result<void> run_work(const std::function<void(Leadership)>& work);
  /// Waits for `ready`, evaluated under mutex_: on the condition, or by driving the loop.
  template <class Ready>
  void wait_for(Ready ready, std::optional<RealTime> patience = {});
  /// Whether waiting here could never end: this thread is the loop, or is in this election's work.
  [[nodiscard]] bool must_not_wait() const noexcept;
  void notify();

  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<LeaseStore> store_;
  const ElectionOptions options_;
  const Timing asked_;
  const std::string session_;

  // Of the loop.
  std::optional<core::ElectionMachine> machine_;
  std::unique_ptr<Executor::Handle> timer_;
  Instant armed_ = kNever;
  std::unique_ptr<Watch> watch_;
  std::shared_ptr<detail::Term> term_;  // the newest, ended or not
  bool feeding_ = false;

  std::atomic<Phase> phase_{Phase::idle};
  std::atomic<Duration::rep> deadline_ns_{kLongAgo.time_since_epoch().count()};
  const volatile unsigned char* const in_parent_ = detail::fork_guard();

  std::atomic<bool> stop_asked_{false};
  std::atomic<std::thread::id> work_thread_{};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  EventQueue events_;
  Begin begin_;
  Where begin_where_ = Where::on_callback_thread;
  bool started_ = false;
  bool finished_ = false;
  std::optional<Error> gave_up_;     // why it ended by itself
  std::optional<Error> unfinished_;  // what had not ended when stop's limit came
  std::string holder_;
  Timing timing_;
  std::shared_ptr<detail::Term> published_;
  std::optional<std::pair<Leadership, TermEnd>> for_lead_;
};

}  // namespace tenure::runtime
