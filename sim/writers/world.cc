// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writers/world.h"

#include "core/rng.h"
#include "writers/writer.h"

#include <algorithm>
#include <queue>
#include <vector>

namespace tenure::sim {
namespace {

constexpr Instant kStart{std::chrono::seconds(1000)};
constexpr std::size_t kMostSettlingRounds = 20;

class World {
 public:
  explicit World(const WritersOptions& options)
      : options_(options), random_(options.seed), objects_(options.keys) {
    for (std::size_t i = 0; i < options_.writers; ++i) {
      writers_.emplace_back(options_, random_.next());
      due_.push_back(kNever);
    }
  }

  WritersReport run() {
    WritersReport report;
    Value next = 1;
    report.settling = round(next++);
    while (options_.opinions == 1 && options_.rounds > 0 && !is_settled() &&
           report.settling_rounds < kMostSettlingRounds) {
      const WritersRound more = round(next++);
      ++report.settling_rounds;
      report.settling.writes += more.writes;
      report.settling.conflicts += more.conflicts;
      report.settling.converged = std::max(report.settling.converged, more.converged);
    }
    for (std::size_t i = 0; i < options_.rounds; ++i) report.settled.push_back(round(next++));
    report.all_as_wanted = std::all_of(writers_.begin(), writers_.end(), [&](const Writer& writer) {
      for (std::size_t k = 0; k < objects_.size(); ++k) {
        if (objects_[k].value != writer.wanted(k)) return false;
      }
      return true;
    });
    for (const Writer& writer : writers_) {
      if (writer.leads()) ++report.leaders;
      report.pending += writer.pending();
    }
    return report;
  }

 private:
  enum class What : std::uint8_t { want, see, arrive, answer, look };
  struct Event {
    Instant when;
    std::uint64_t order;  // among those of one instant
    What what;
    std::uint32_t writer;
    std::uint32_t key;
    Object object;
    bool accepted;
    bool operator>(const Event& other) const noexcept {
      return when != other.when ? when > other.when : order > other.order;
    }
  };

  // Everybody has had a result of its own, and one of them leads.
  [[nodiscard]] bool is_settled() const {
    std::size_t leaders = 0;
    for (const Writer& writer : writers_) {
      if (writer.elects()) return false;
      if (writer.leads()) ++leaders;
    }
    return leaders == 1;
  }

  // What is wanted in a round: a value that no other round or opinion has.
  [[nodiscard]] Value value_for(Value round, std::size_t writer) const noexcept {
    const bool agree = options_.agree_from_round > 0 && round > options_.agree_from_round;
    const std::size_t opinion = agree ? 0 : writer % options_.opinions;
    return static_cast<Value>(round * options_.opinions + opinion);
  }
  [[nodiscard]] bool is_of_round(Value value, Value round) const noexcept {
    return value / options_.opinions == round;
  }
  [[nodiscard]] Duration around(Duration middle) {
    const auto half = middle.count() / 2;
    return Duration(half + static_cast<Duration::rep>(
                               random_.up_to(static_cast<std::uint64_t>(middle.count()))));
  }

  void push(Instant when, What what, std::size_t writer, std::size_t key = 0, Object object = {},
            bool accepted = false) {
    events_.push({when, order_++, what, static_cast<std::uint32_t>(writer),
                  static_cast<std::uint32_t>(key), object, accepted});
  }

  WritersRound round(Value number) {
    counted_ = {};
    counted_.converged = kForever;
    round_ = number;
    round_began_ = now_;
    missing_ = objects_.size();
    for (std::size_t w = 0; w < writers_.size(); ++w) {
      const Duration late(static_cast<Duration::rep>(
          random_.up_to(static_cast<std::uint64_t>(options_.spread.count()))));
      push(now_ + late, What::want, w);
    }
    const Instant end = now_ + options_.round;
    while (!events_.empty() && events_.top().when <= end) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.when;
      handle(event);
    }
    now_ = end;
    return counted_;
  }

  void handle(const Event& event) {
    Writer& writer = writers_[event.writer];
    switch (event.what) {
      case What::want:
        for (std::size_t k = 0; k < objects_.size(); ++k) {
          writer.want(k, value_for(round_, event.writer), now_);
        }
        break;
      case What::see:
        writer.see(event.key, event.object, now_);
        break;
      case What::arrive:
        return arrive(event);
      case What::answer:
        writer.answer(event.accepted, event.object, now_);
        break;
      case What::look:
        if (due_[event.writer] == now_) due_[event.writer] = kNever;
        break;
    }
    go_on(event.writer);
  }

  // The store: a write is accepted only on the version that its writer knew.
  void arrive(const Event& event) {
    Object& object = objects_[event.key];
    ++counted_.writes;
    const bool accepted = object.version == event.object.version;
    if (accepted) {
      if (missing_ > 0 && !is_of_round(object.value, round_) &&
          is_of_round(event.object.value, round_) && --missing_ == 0) {
        counted_.converged = now_ - round_began_;
      }
      object = {event.object.value, object.version + 1};
      for (std::size_t w = 0; w < writers_.size(); ++w) {
        if (w != event.writer) {
          push(now_ + around(options_.watch_delay), What::see, w, event.key, object);
        }
      }
    } else {
      ++counted_.conflicts;
    }
    push(now_ + around(options_.write_time / 2), What::answer, event.writer, event.key, object,
         accepted);
  }

  void go_on(std::uint32_t index) {
    Writer& writer = writers_[index];
    if (const auto write = writer.run(now_)) {
      push(now_ + around(options_.write_time / 2), What::arrive, index, write->key,
           {write->value, write->on_version});
    }
    const Instant due = writer.next_due();
    if (due == kNever || due >= due_[index]) return;
    due_[index] = std::max(due, now_);
    push(due_[index], What::look, index);
  }

  const WritersOptions options_;
  core::Rng random_;
  std::vector<Object> objects_;
  std::vector<Writer> writers_;
  std::vector<Instant> due_;  // when each writer will be looked at next
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  Instant now_ = kStart;
  WritersRound counted_;
  Value round_ = 0;
  Instant round_began_ = kStart;
  std::size_t missing_ = 0;
};

}  // namespace

WritersReport simulate(const WritersOptions& options) { return World(options).run(); }

}  // namespace tenure::sim
