// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/events.h>
#include <tenure/store.h>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What the election machine wants done. It does nothing itself: the driver takes the effects after
/// each input and carries them out IN THE ORDER GIVEN. That order is part of the safety argument:
/// the end of a term is published (EndTerm) before anything is said to the store that could let
/// another lead, and a term begins (BeginTerm) only after the answer that proves it.
namespace tenure::core {

/// Numbers requests and watches. An answer that carries an older number than the machine's is
/// dropped: it belongs to an earlier request, session or term.
using Generation = std::uint64_t;

struct SendAcquire {
  Generation generation = 0;
  Instant limit = kNever;
  std::optional<Record> judged_expired;
};

struct SendRenew {
  Generation generation = 0;
  Instant limit = kNever;
  Record record;
};

struct SendRelease {
  Generation generation = 0;
  Instant limit = kNever;
  std::uint64_t revision = 0;  ///< 0: whatever our session has.
};

/// Open the watch; its states and its end come back with this generation.
struct OpenWatch {
  Generation generation = 0;
};

struct CloseWatch {};

/// held() becomes true until `deadline`; then call the work.
struct BeginTerm {
  std::uint64_t token = 0;
  Instant deadline = kLongAgo;
};

/// held() stays true until `deadline`: later than before, or earlier if the store now grants less.
struct MoveDeadline {
  Instant deadline = kLongAgo;
};

/// Ask the work to stop. held() may still be true.
struct TellWork {};

/// held() becomes false now, the work is asked to stop (if it was not), and Lost is reported.
struct EndTerm {
  std::uint64_t token = 0;
  LossReason reason = LossReason::expired;
  std::string detail;
};

struct ReportHolder {
  std::string holder;
  std::uint64_t token = 0;
};

struct ReportTrouble {
  Error error;
  bool recovered = false;
  bool of_work = false;
};

/// The machine has ended; no effect follows. `error`: it gave up, or its end was not orderly.
struct Finish {
  std::optional<Error> error;
};

/// The work outlasted its term and the options say that the process must not.
struct AbortProcess {
  std::uint64_t token = 0;
};

using Effect = std::variant<SendAcquire, SendRenew, SendRelease, OpenWatch, CloseWatch, BeginTerm,
                            MoveDeadline, TellWork, EndTerm, ReportHolder, ReportTrouble, Finish,
                            AbortProcess>;
using Effects = std::vector<Effect>;

}  // namespace tenure::core
