// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "core/election/election.h"

#include "fuzz.h"
#include "tests/core/election/effect_judge.h"

#include <algorithm>

using namespace tenure;  // a program of one file
using fuzz::Bytes;
using fuzz::require;

namespace {

// One machine and whatever a store, a driver and a clock may tell it, decoded from bytes.
class World {
 public:
  explicit World(Bytes& bytes) : bytes_(bytes), judge_(false), machine_(config()) {}

  void run() {
    input([&] { machine_.start(now_); });
    while (!bytes_.empty()) {
      now_ += Duration(static_cast<Duration::rep>(bytes_.byte())) * 10'000'000;
      one();
      require(judge_.faults().empty(), judge_.faults().c_str());
      int spins = 0;
      while (machine_.next_deadline() <= now_) {
        require(++spins < 1000, "the machine does not spin");
        input([&] { machine_.tick(now_); });
      }
    }
  }

 private:
  core::ElectionConfig config() {
    ElectionOptions options;
    options.name = "e";
    options.id = "A";
    if (bytes_.flag()) options.on_overrun = Overrun::abort;
    if (bytes_.flag()) options.yield_pause = Duration::zero();
    const auto timing = validate(options);
    require(timing.has_value(), "the defaults are valid");
    const bool tracks_work = bytes_.flag();
    judge_ = core::EffectJudge(tracks_work);
    const ExpiryBy expiry = bytes_.flag() ? ExpiryBy::observers : ExpiryBy::store;
    return {options, *timing, "session-a", expiry, bytes_.flag(), tracks_work, {}, bytes_.byte()};
  }

  std::uint64_t number() {
    if (bytes_.up_to(15) == 0) return bytes_.word();
    return bytes_.flag() ? ++count_ : count_ - std::min<std::uint64_t>(count_, bytes_.up_to(3));
  }
  Duration ttl() {
    if (bytes_.up_to(7) != 0) return std::chrono::seconds(15);
    return Duration(static_cast<Duration::rep>(bytes_.word()));
  }
  Instant sent() {
    if (bytes_.up_to(7) != 0) return sent_at_;
    return Instant(Duration(static_cast<Duration::rep>(bytes_.word())));
  }
  std::optional<Record> record() {
    if (bytes_.up_to(4) == 0) return std::nullopt;
    Record record;
    record.election = "e";
    record.session = bytes_.flag() ? "session-a" : "session-b";
    record.id = "A";
    record.revision = record.token = number();
    record.renewal = bytes_.up_to(2);
    record.ttl = ttl();
    return record;
  }
  tl::unexpected<Error> failure() {
    return fail(static_cast<Errc>(bytes_.up_to(static_cast<unsigned>(Errc::timed_out))), "no");
  }
  core::Generation request() {
    return generation_ - std::min<core::Generation>(generation_, late());
  }
  unsigned late() { return bytes_.up_to(7) == 0 ? 1 : 0; }

  void one() {
    switch (bytes_.up_to(9)) {
      case 0:
      case 1: {
        Result<AcquireReply> reply = failure();
        if (bytes_.flag()) reply = AcquireReply{bytes_.flag(), record(), sent(), bytes_.flag()};
        return input([&] { machine_.on_acquire(request(), reply, now_); });
      }
      case 2:
      case 3: {
        Result<RenewReply> reply = failure();
        if (bytes_.flag()) reply = RenewReply{bytes_.up_to(3) != 0, ttl(), sent(), record()};
        return input([&] { machine_.on_renew(request(), reply, now_); });
      }
      case 4: {
        Result<ReleaseReply> reply = failure();
        if (bytes_.flag()) reply = ReleaseReply{bytes_.flag()};
        return input([&] { machine_.on_release(request(), reply, now_); });
      }
      case 5:
      case 6: {
        Result<ElectionState> state = failure();
        if (bytes_.flag()) state = ElectionState{"e", record(), number(), bytes_.flag()};
        return input([&] {
          machine_.on_watch(watch_ - std::min<std::uint64_t>(watch_, late()), state, now_);
        });
      }
      case 7:
        judge_.work_ended();
        return input([&] { machine_.work_ended(now_); });
      case 8:
        return input([&] { machine_.yield(now_); });
      default:
        if (bytes_.up_to(7) != 0) return input([&] { machine_.tick(now_); });
        return input([&] { machine_.stop(now_, now_ + std::chrono::seconds(bytes_.byte())); });
    }
  }

  template <class Give>
  void input(Give give) {
    give();
    const core::Effects effects = machine_.take_effects();
    judge_.read(effects, now_);
    for (const core::Effect& effect : effects) {
      std::visit(core::Overloaded{[&](const core::SendAcquire& e) { note(e.generation); },
                                  [&](const core::SendRenew& e) { note(e.generation); },
                                  [&](const core::SendRelease& e) { note(e.generation); },
                                  [&](const core::OpenWatch& e) { watch_ = e.generation; },
                                  [](const auto&) {}},
                 effect);
    }
    require(judge_.in_term() == (machine_.phase() == Phase::leading || judge_.told()) ||
                !judge_.in_term(),
            "a term is led or is being given up");
  }
  void note(core::Generation generation) {
    generation_ = generation;
    sent_at_ = now_;
  }

  Bytes& bytes_;
  core::EffectJudge judge_;
  Instant now_{std::chrono::hours(1)};
  core::Generation generation_ = 0;
  core::Generation watch_ = 0;
  Instant sent_at_ = kLongAgo;
  std::uint64_t count_ = 0;
  core::ElectionMachine machine_;
};

}  // namespace

// Any sequence of inputs: no check trips, nothing spins, and the order of effects is kept.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  World(bytes).run();
  return 0;
}
