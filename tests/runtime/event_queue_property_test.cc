// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The event queue against a twin that keeps everything: whatever is written and whenever it is
// read, the reader's picture is never wrong and ends up as the writer's.
#include "runtime/event_queue.h"

#include <tenure/testkit/manual_clock.h>

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <rapidcheck.h>
#include <string>
#include <vector>

namespace tenure::runtime {
namespace {

enum class Step { term, holder, trouble, recovered, read, read_all };

// A state of the election as far as events tell it. Events carry their number as their wall time.
struct Picture {
  std::uint64_t terms_begun = 0;
  std::uint64_t terms_ended = 0;
  std::string holder;
  std::string trouble;
  bool stopped = false;

  bool operator==(const Picture&) const = default;
};

// The twin: writes a well-formed stream and remembers all of it.
class Writer {
 public:
  explicit Writer(EventQueue& queue) : queue_(queue) {}

  void write(Step step, int variant) {
    switch (step) {
      case Step::term:
        return end_or_begin_term();
      case Step::holder:
        now.holder = "h" + std::to_string(variant);
        return push(HolderChanged{now.holder, 1});
      case Step::trouble:
      case Step::recovered: {
        const auto code = static_cast<Errc>(variant % 11);
        const bool recovered = step == Step::recovered;
        now.trouble = std::to_string(variant) + (recovered ? " over" : "");
        return push(Trouble{{code, std::to_string(variant)}, recovered});
      }
      default:
        return;
    }
  }
  void finish() {
    if (now.terms_begun != now.terms_ended) end_or_begin_term();
    now.stopped = true;
    push(Stopped{});
  }

  Picture now;
  std::int64_t written = 0;

 private:
  void end_or_begin_term() {
    if (now.terms_begun != now.terms_ended) {
      ++now.terms_ended;
      return push(Lost{now.terms_ended, LossReason::expired, ""});
    }
    ++now.terms_begun;
    push(Elected{Leadership(std::make_shared<detail::Term>(clock_, now.terms_begun))});
  }
  void push(EventBody body) { queue_.push({std::move(body), WallTime(Duration(++written)), 0}); }

  const testkit::ManualClock clock_;
  EventQueue& queue_;
};

// Reads, and asserts what a reader may rely on.
class Reader {
 public:
  explicit Reader(EventQueue& queue) : queue_(queue) {}

  bool read() {
    const auto event = queue_.pop();
    if (!event) return false;
    RC_ASSERT(!seen.stopped);
    const std::int64_t number = event->wall.time_since_epoch().count();
    RC_ASSERT(number > last_number_);
    last_number_ = number;
    folded += event->folded_terms;
    if (event->folded_terms > 0) {
      RC_ASSERT(seen.terms_begun == seen.terms_ended);
      seen.terms_begun += event->folded_terms;
      seen.terms_ended += event->folded_terms;
    }
    if (const auto* elected = std::get_if<Elected>(&event->body)) {
      RC_ASSERT(seen.terms_begun == seen.terms_ended);
      RC_ASSERT(elected->leadership.token() == ++seen.terms_begun);
    } else if (const auto* lost = std::get_if<Lost>(&event->body)) {
      RC_ASSERT(seen.terms_begun == seen.terms_ended + 1);
      RC_ASSERT(lost->token == ++seen.terms_ended);
    } else if (const auto* holder = std::get_if<HolderChanged>(&event->body)) {
      seen.holder = holder->holder;
    } else if (const auto* trouble = std::get_if<Trouble>(&event->body)) {
      seen.trouble = trouble->error.message + (trouble->recovered ? " over" : "");
    } else {
      seen.stopped = true;
    }
    return true;
  }
  std::size_t read_all() {
    std::size_t count = 0;
    while (read()) ++count;
    return count;
  }

  Picture seen;
  std::uint64_t folded = 0;

 private:
  EventQueue& queue_;
  std::int64_t last_number_ = 0;
};

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

void run(std::size_t capacity, const std::vector<std::pair<Step, int>>& steps) {
  EventQueue queue(capacity);
  Writer writer(queue);
  Reader reader(queue);
  std::int64_t read_at = 0;
  bool may_fold = false;
  for (const auto& [step, variant] : steps) {
    if (step == Step::read) (void)reader.read();
    if (step == Step::read_all) {
      RC_ASSERT(reader.read_all() <= capacity);
      RC_ASSERT(reader.seen == writer.now);
      read_at = writer.written;
    }
    writer.write(step, variant);
    may_fold = may_fold || writer.written - read_at > static_cast<std::int64_t>(capacity);
    RC_ASSERT(readable(queue.fd()) == !queue.empty());
  }
  writer.finish();
  may_fold = may_fold || writer.written - read_at > static_cast<std::int64_t>(capacity);
  RC_ASSERT(reader.read_all() <= capacity);
  RC_ASSERT(reader.seen == writer.now);
  RC_ASSERT(may_fold || reader.folded == 0);
  RC_TAG(reader.folded > 0 ? "folded" : "nothing folded");
}

TEST(EventQueueProperty, ReaderIsNeverToldAnythingWrongAndEndsWithTheNewestState) {
  const auto step = rc::gen::pair(rc::gen::weightedElement<Step>({{8, Step::term},
                                                                  {2, Step::holder},
                                                                  {2, Step::trouble},
                                                                  {1, Step::recovered},
                                                                  {4, Step::read},
                                                                  {1, Step::read_all}}),
                                  rc::gen::inRange(0, 100));
  EXPECT_TRUE(rc::check([&step] {
    const auto capacity = *rc::gen::inRange<std::size_t>(8, 20);
    const auto length = *rc::gen::inRange<std::size_t>(0, 200);
    run(capacity, *rc::gen::container<std::vector<std::pair<Step, int>>>(length, step));
  }));
}

}  // namespace
}  // namespace tenure::runtime
