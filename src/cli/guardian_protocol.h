// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// What `tenure` and its guardian say to each other: fixed-size records on a SOCK_SEQPACKET pair, so
// that a record comes whole or not at all, and the end of either side is seen as end of file.
namespace tenure::cli::guardian {

// argv[1] that makes the program a guardian. Not an option: nobody types it.
inline constexpr std::string_view kVerb = "__guardian";

enum class Verb : std::uint32_t {
  // tenure -> guardian
  start,     // run CMD: token, ttl, grace, margin, deadline; carries the store's descriptor
  deadline,  // the term was renewed: deadline
  stop,      // TERM now, KILL a grace later or at the deadline
  kill,      // KILL everything now
  signal,    // pass `number` on to CMD's group
  resume,    // after a stop of the whole job: continue CMD
  // guardian -> tenure
  starting,  // `start` has been read: from here on CMD may run; `deadline` is what it acts on
  known,     // `deadline` is what it acts on now: the answer to deadlines
  started,   // CMD runs as process `number`
  failed,    // CMD could not be run: errno `number`; the guardian ends
  late,      // the deadline was too near to start CMD at all; the guardian ends
  ended,     // CMD itself ended with wait status `number`, `asked` to or not; descendants may live
  gone,      // nothing of CMD lives any more; the guardian ends
  stopped,   // CMD was stopped by signal `number` while it owned the terminal
  terminal,  // the terminal sent signal `number` to CMD's group
};

// All instants are CLOCK_BOOTTIME nanoseconds, all spans nanoseconds.
struct Message {
  Verb verb{};
  std::int32_t number = 0;
  bool asked = false;
  std::int64_t deadline = 0;
  std::int64_t grace = 0;
  std::int64_t margin = 0;
  std::int64_t ttl_ms = 0;
  std::uint64_t token = 0;
};

}  // namespace tenure::cli::guardian
