// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/memory_store.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::memory {

/// The last revision given out; outlives the table of a named backend, so that tokens go on.
using Revision = std::shared_ptr<std::atomic<std::uint64_t>>;

/// The records of one memory backend: pure, time comes in as an argument. Everything first lets
/// expire what has expired at `now`. One thread at a time.
class Table {
 public:
  Table(MemoryOptions options, Revision revision);

  [[nodiscard]] AcquireReply acquire(const AcquireRequest& request, std::uint64_t client,
                                     Instant now);
  [[nodiscard]] RenewReply renew(const RenewRequest& request, Instant now);
  [[nodiscard]] bool release(const ReleaseRequest& request, Instant now);
  [[nodiscard]] bool force_delete(std::string_view election, Instant now);
  [[nodiscard]] Record force_takeover(Record record, Instant now);

  /// The client's object is gone: its places in line end one ttl from now.
  void client_gone(std::uint64_t client, Instant now);

  void expire(Instant now);

  /// When expire() may next have something to do; never later than that.
  [[nodiscard]] Instant next_expiry() const { return next_expiry_; }

  /// The state of one election as the candidate with `session` sees it.
  [[nodiscard]] ElectionState state(std::string_view election, std::string_view session) const;

  /// Every name that was ever used, in order.
  [[nodiscard]] std::vector<std::string> names() const;

  /// The elections whose holder or line changed since the last call.
  [[nodiscard]] std::set<std::string> take_changes();

  [[nodiscard]] const MemoryOptions& options() const { return options_; }

 private:
  struct Entry {
    Record record;
    std::uint64_t client = 0;
  };
  // The first one holds.
  using Line = std::vector<Entry>;

  Record& append(Line& line, const AcquireRequest& request, std::uint64_t client, Instant now);
  void prolong(Record& record, Duration ttl, Instant now);
  void remove(const std::string& election, Line& line, Line::iterator entry, Instant now);
  [[nodiscard]] bool judged(const Line& line, const AcquireRequest& request) const;
  std::uint64_t next_revision() { return ++*revision_; }

  MemoryOptions options_;
  Revision revision_;
  std::map<std::string, Line, std::less<>> lines_;
  std::set<std::string> changes_;
  Instant next_expiry_ = kNever;
};

}  // namespace tenure::memory
