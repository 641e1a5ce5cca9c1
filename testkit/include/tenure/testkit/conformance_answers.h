// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/store.h>

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What the conformance suite keeps of answers and watches; it checks there that completions come
/// exactly once and never from within the call. Thread-safe: a loop may run on its own thread.
namespace tenure::testkit {

namespace conformance {

/// The answer to one request: how often it came, whether from within the call, and what it was.
template <class T>
class Answer {
 public:
  void begin() { within_call_ = true; }
  void end() {
    const std::lock_guard lock(mutex_);
    within_call_ = false;
  }

  void take(Result<T> result) {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(within_call_) << "a completion was called from within the request";
    EXPECT_EQ(++calls_, 1) << "a completion was called more than once";
    result_ = std::move(result);
  }

  [[nodiscard]] bool here() const {
    const std::lock_guard lock(mutex_);
    return calls_ > 0;
  }

  [[nodiscard]] Result<T> result() const {
    const std::lock_guard lock(mutex_);
    if (result_) return *result_;
    return fail(Errc::timed_out, "the test got no answer");
  }

 private:
  mutable std::mutex mutex_;
  bool within_call_ = false;
  int calls_ = 0;
  std::optional<Result<T>> result_;
};

template <class T>
using Pending = std::shared_ptr<Answer<T>>;

/// Whether a record is that session's, as asking() makes them. Where sessions are private, only the
/// id tells.
[[nodiscard]] inline bool is_of(const Record& record, const std::string& session, bool by_id) {
  return by_id ? record.id == "id of " + session : record.session == session;
}

/// What a watch has said so far.
class Seen {
 public:
  void take(const Result<ElectionState>& state) {
    const std::lock_guard lock(mutex_);
    EXPECT_FALSE(within_call) << "a watch called from within the request";
    EXPECT_FALSE(error_.has_value()) << "a watch spoke after it had ended";
    if (!state) {
      error_ = state.error();
      return;
    }
    states_.push_back(*state);
  }

  [[nodiscard]] std::vector<ElectionState> states() const {
    const std::lock_guard lock(mutex_);
    return states_;
  }
  [[nodiscard]] std::optional<Error> error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  [[nodiscard]] std::size_t count() const { return states().size(); }
  [[nodiscard]] std::optional<ElectionState> last() const {
    const auto all = states();
    if (all.empty()) return std::nullopt;
    return all.back();
  }
  /// Whether the newest state names this session as the holder; "": nobody.
  [[nodiscard]] bool shows(const std::string& session) const {
    const auto newest = last();
    if (!newest) return false;
    return newest->holder ? is_of(*newest->holder, session, by_id) : session.empty();
  }

  bool within_call = false;
  bool by_id = false;  ///< Sessions are private.
  std::unique_ptr<Watch> watch;

 private:
  mutable std::mutex mutex_;
  std::vector<ElectionState> states_;
  std::optional<Error> error_;
};

}  // namespace conformance

}  // namespace tenure::testkit
