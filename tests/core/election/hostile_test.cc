// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs that no sound store and no sound driver would give, in any order: a machine must neither
// trip a check (that aborts the user's process), nor spin, nor break the order of its effects.
#include "tests/core/election/machine_world.h"

#include <cstdlib>

namespace tenure::core {
namespace {

class Hostile {
 public:
  explicit Hostile(std::uint64_t seed) : rng_(seed), world_(setup()) {}

  void run(int inputs) {
    for (int i = 0; i < inputs && !testing::Test::HasFatalFailure(); ++i) {
      one();
      if (chance(3)) world_.run_for(Duration(any_small()));
      if (chance(200)) world_.sleep_to(world_.now.time_since_epoch() + minutes(1));
    }
    // Nothing is stuck: it has ended, or waits for its work, or has a timer that lies ahead.
    world_.tick();
    const Phase phase = world_.phase();
    if (phase == Phase::idle || phase == Phase::stopped || world_.judge.working()) return;
    EXPECT_NE(world_.machine.next_deadline(), kNever) << to_string(phase);
  }

 private:
  bool chance(std::uint64_t one_in) { return rng_.up_to(one_in - 1) == 0; }
  Duration::rep any_small() {
    return static_cast<Duration::rep>(rng_.next() >> rng_.up_to(30) >> 33U);
  }

  MachineWorld::Setup setup() {
    MachineWorld::Setup setup;
    setup.seed = rng_.next();
    setup.tracks_work = chance(2);
    setup.expiry = chance(2) ? ExpiryBy::store : ExpiryBy::observers;
    setup.has_queue = chance(2);
    if (chance(2)) setup.options.on_overrun = Overrun::abort;
    if (chance(3)) setup.options.give_up_after = Duration(any_small());
    if (chance(3)) setup.options.yield_pause = Duration::zero();
    if (chance(3)) setup.options.ttl = milliseconds(100);
    if (chance(3)) setup.options.drift = 0.5;
    setup.phase = Duration(any_small());
    return setup;
  }

  Duration ttl() {
    switch (rng_.up_to(9)) {
      case 0:
        return Duration::zero();
      case 1:
        return Duration(-1);
      case 2:
        return Duration::min();
      case 3:
        return Duration::max();
      case 4:
        return Duration(static_cast<Duration::rep>(rng_.up_to(10)));
      case 5:
        return Duration(any_small());
      default:
        return seconds(15);
    }
  }
  Instant sent() {
    switch (rng_.up_to(7)) {
      case 0:
        return kNever;
      case 1:
        return kLongAgo;
      case 2:
        return Instant{};
      case 3:
        return world_.now + Duration(any_small());
      case 4:
        return world_.now - Duration(any_small());
      default:
        return world_.sent_at;
    }
  }
  std::uint64_t number() {
    if (chance(20)) return rng_.next();
    return chance(4) ? rng_.up_to(30) : (chance(2) ? ++count_ : count_);
  }
  std::optional<Record> record() {
    if (chance(5)) return std::nullopt;
    Record record = record_of(chance(2) ? "session-a" : "session-b", number(), "A", ttl());
    if (chance(10)) record.token = number();
    record.renewal = rng_.up_to(2);
    return record;
  }
  tl::unexpected<Error> failure() {
    return fail(static_cast<Errc>(rng_.up_to(static_cast<std::uint64_t>(Errc::timed_out))), "no");
  }
  // Mostly the request in flight, at times an old one or one that never was.
  void give(std::uint64_t kind) {
    const Generation was = world_.request;
    const Generation watch = world_.watch;
    if (chance(20)) world_.request = world_.watch = rng_.up_to(was + 2);
    if (kind == 0) {
      if (chance(3))
        world_.acquire(failure());
      else
        world_.acquire(AcquireReply{!chance(3), record(), sent(), chance(3)});
    } else if (kind == 1) {
      if (chance(3))
        world_.renew(failure());
      else
        world_.renew(RenewReply{!chance(4), ttl(), sent(), record()});
    } else if (kind == 2) {
      if (chance(3))
        world_.release_fails(failure().value().code);
      else
        world_.released(chance(2));
    } else if (chance(6)) {
      world_.watch_fails(failure().value().code);
    } else {
      world_.sees(record(), number(), chance(2));
    }
    world_.request = std::max(was, world_.request);
    world_.watch = std::max(watch, world_.watch);
  }
  void one() {
    const std::uint64_t draw = rng_.up_to(99);
    if (draw < 70) return give(rng_.up_to(3));
    if (draw < 80) return world_.tick();
    if (draw < 88) return world_.work_ended();
    if (draw < 92) return world_.yield();
    if (draw < 93 && chance(4)) return world_.stop(Duration(any_small()));
    world_.start();
  }

  Rng rng_;
  std::uint64_t count_ = 0;
  MachineWorld world_;
};

TEST(ElectionHostile, NoInputTripsACheckOrMakesItSpin) {
  const char* more = std::getenv("TENURE_HOSTILE_RUNS");
  const std::uint64_t runs = more != nullptr ? std::stoull(more) : 1500;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Hostile(seed).run(400);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tenure::core
