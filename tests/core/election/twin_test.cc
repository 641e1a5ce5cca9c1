// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/core/election/twin.h"

#include "tests/core/election/machine_world.h"

#include <cstdlib>

namespace tenure::core {
namespace {

// Feeds the same random inputs to a machine and to its twin, and compares all that a user sees
// after each one: phase, deadline, token, the list of losses.
class TwinRun {
 public:
  explicit TwinRun(std::uint64_t seed)
      : rng_(seed),
        tracks_work_(rng_.up_to(1) == 0),
        machine_(config(seed)),
        timing_(machine_.timing()),
        twin_(timing_, tracks_work_),
        judge_(tracks_work_) {}

  void run(int inputs) {
    input([&] { machine_.start(now_); }, [&] { twin_.start(); });
    for (int i = 0; i < inputs; ++i) {
      pass_time();
      one();
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  ElectionConfig config(std::uint64_t seed) {
    ElectionConfig config;
    config.options.name = "billing";
    config.timing = *validate(config.options);
    config.session = "us";
    config.tracks_work = tracks_work_;
    config.seed = seed;
    return config;
  }
  bool chance(std::uint64_t one_in) { return rng_.up_to(one_in - 1) == 0; }

  template <class Machine, class Twin>
  void input(Machine machine, Twin twin) {
    twin_.time(now_);
    twin();
    twin_.time(now_);
    machine();
    collect();
    compare();
  }
  void collect() {
    const Effects effects = machine_.take_effects();
    judge_.read(effects, now_);
    for (const Effect& effect : effects) {
      std::visit(
          Overloaded{[&](const SendAcquire& one) { sent(one, ElectionTwin::Asked::acquire); },
                     [&](const SendRenew& one) { sent(one, ElectionTwin::Asked::renew); },
                     [&](const SendRelease& one) { sent(one, ElectionTwin::Asked::release); },
                     [&](const OpenWatch& one) {
                       watch_ = one.generation;
                       watching_ = true;
                       seen_ = 0;
                     },
                     [&](const CloseWatch&) { watching_ = false; }, [](const auto&) {}},
          effect);
    }
    if (machine_.phase() == Phase::pausing && was_ != Phase::pausing) {
      twin_.paused_until(now_ + milliseconds(500));
    }
    was_ = machine_.phase();
  }
  template <class Send>
  void sent(const Send& one, ElectionTwin::Asked what) {
    generation_ = one.generation;
    sent_at_ = now_;
    in_flight_ = what;
    twin_.asked(what, one.limit);
  }
  void compare() {
    ASSERT_EQ(judge_.faults(), "");
    ASSERT_EQ(machine_.phase(), twin_.phase)
        << to_string(machine_.phase()) << " but the twin " << to_string(twin_.phase);
    ASSERT_EQ(judge_.in_term(), twin_.deadline.has_value());
    ASSERT_EQ(judge_.losses(), twin_.losses);
    ASSERT_EQ(judge_.token(), twin_.begun);
    if (!twin_.deadline) return;
    const Duration apart = judge_.deadline() - *twin_.deadline;
    ASSERT_LE(apart, Duration(1)) << "a later deadline than the rules allow";
    ASSERT_GE(apart, Duration(-4));
  }

  void pass_time() {
    const Instant due = machine_.next_deadline();
    Instant then =
        now_ +
        Duration(static_cast<Duration::rep>(rng_.up_to(chance(3) ? 4'000'000'000 : 50'000'000)));
    // Timers are late at times, and the process stands still at times.
    if (due != kNever && !chance(6)) then = std::max(now_, std::min(then, due));
    if (chance(300)) then += seconds(40);
    // A few nanoseconds around the deadlines are rounded differently: step over them.
    now_ = then;
    if (twin_.deadline && now_ > *twin_.deadline - Duration(10) && now_ < *twin_.deadline)
      now_ += Duration(20);
    const Instant told = twin_.deadline ? *twin_.deadline - machine_.timing().grace : kNever;
    if (twin_.deadline && now_ > told - Duration(10) && now_ < told + Duration(10))
      now_ += Duration(20);
    input([&] { machine_.tick(now_); }, [] {});
  }

  Record fresh() { return record_of("us", ++revision_, "A", ttl()); }
  Duration ttl() {
    return chance(4) ? milliseconds(2000 + rng_.up_to(20'000)) : Duration(seconds(15));
  }
  Errc failure() {
    constexpr std::array<Errc, 5> codes{Errc::unavailable, Errc::outcome_unknown, Errc::timed_out,
                                        Errc::permission_denied, Errc::conflict};
    return codes.at(rng_.up_to(codes.size() - 1));
  }
  void one() {
    const std::uint64_t draw = rng_.up_to(99);
    if (draw < 60) return answer();
    if (draw < 80) return see();
    if (draw < 83) return input([&] { machine_.yield(now_); }, [&] { twin_.yield(now_); });
    if (draw < 93 || !tracks_work_) return;
    judge_.work_ended();
    input([&] { machine_.work_ended(now_); }, [&] { twin_.work_ended(now_); });
  }
  // The instant that the store names lies between the sending and now.
  Instant named() { return chance(5) ? now_ : sent_at_; }
  void answer() {
    if (in_flight_ == ElectionTwin::Asked::acquire) return answer_acquire();
    if (in_flight_ == ElectionTwin::Asked::renew) return answer_renew();
    const bool ok = !chance(4);
    const Result<ReleaseReply> reply =
        ok ? Result<ReleaseReply>(ReleaseReply{chance(2)}) : fail(failure(), "no");
    input([&] { machine_.on_release(generation_, reply, now_); },
          [&] { twin_.release_answered(ok, now_); });
  }
  void answer_acquire() {
    if (chance(4)) {
      const Errc code = failure();
      return input([&] { machine_.on_acquire(generation_, fail(code, "no"), now_); },
                   [&] { twin_.acquire_failed(code); });
    }
    if (chance(3)) {
      const AcquireReply reply{false, record_of("B", ++revision_), kLongAgo, false};
      return input([&] { machine_.on_acquire(generation_, reply, now_); },
                   [&] { twin_.held_by_other(); });
    }
    const bool again = chance(6) && last_.revision != 0;
    if (!again) last_ = fresh();
    const AcquireReply reply{true, last_, named(), false};
    input([&] { machine_.on_acquire(generation_, reply, now_); },
          [&] { twin_.acquired(last_, reply.sent_at, now_); });
  }
  void answer_renew() {
    if (chance(3)) {
      const Errc code = failure();
      return input([&] { machine_.on_renew(generation_, fail(code, "no"), now_); },
                   [&] { twin_.renewal_failed_with(code); });
    }
    if (chance(8)) {
      const bool other = chance(2);
      const RenewReply reply{
          false, {}, sent_at_, other ? std::optional(record_of("B", ++revision_)) : std::nullopt};
      return input([&] { machine_.on_renew(generation_, reply, now_); },
                   [&] { twin_.gone(other, now_); });
    }
    const RenewReply reply{true, ttl(), named(), {}};
    input([&] { machine_.on_renew(generation_, reply, now_); },
          [&] { twin_.renewed(reply.ttl, reply.sent_at, now_); });
  }
  void see() {
    if (chance(20)) {
      return input([&] { machine_.on_watch(watch_, fail(Errc::unavailable, "no"), now_); }, [] {});
    }
    std::optional<Record> holder;
    std::uint64_t as_of = ++revision_;
    const bool ours = last_.revision != 0 && !chance(6);
    if (ours)
      holder = last_;
    else if (chance(2))
      holder = record_of("B", revision_);
    if (chance(4)) as_of = revision_ - std::min<std::uint64_t>(revision_, rng_.up_to(5));
    // The watch may be opened again at this very instant; what comes now belongs to the one before.
    const bool stale = !watching_ || as_of < seen_;
    if (!stale) seen_ = as_of;
    input(
        [&] {
          machine_.on_watch(watch_, ElectionState{"billing", holder, as_of, true}, now_);
        },
        [&] {
          if (!stale) twin_.sees(holder, as_of, ours, now_);
        });
  }

  Rng rng_;
  bool tracks_work_;
  ElectionMachine machine_;
  Timing timing_;
  ElectionTwin twin_;
  EffectJudge judge_;
  Instant now_ = at(hours(1));
  Instant sent_at_{};
  Generation generation_ = 0;
  Generation watch_ = 0;
  bool watching_ = false;
  std::uint64_t seen_ = 0;
  ElectionTwin::Asked in_flight_ = ElectionTwin::Asked::nothing;
  Phase was_ = Phase::idle;
  std::uint64_t revision_ = 0;
  Record last_;
};

TEST(ElectionTwin, AgreesWithTheMachineOverAMillionRandomInputs) {
  const char* more = std::getenv("TENURE_TWIN_RUNS");
  const std::uint64_t runs = more != nullptr ? std::stoull(more) : 1000;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    TwinRun(seed).run(1000);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tenure::core
