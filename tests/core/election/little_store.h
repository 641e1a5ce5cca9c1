// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rng.h"

#include <tenure/store.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace tenure::core {

/// The store contract in its least friendly legal form: a repeated acquire gives the same record
/// but does not prolong it, the ttl differs with every grant (but no grant takes back what an
/// earlier one gave: its answer may be lost), and expiry is exact in true time.
/// Every verb takes effect at the instant at which it is called.
class LittleStore {
 public:
  LittleStore(ExpiryBy expiry, Duration ttl, std::uint64_t seed)
      : expiry_(expiry), ttl_(ttl), rng_(seed) {}

  AcquireReply acquire(const std::string& session, const std::optional<Record>& judged,
                       Instant sent_at, Instant now) {
    expire(now);
    if (holder_ && judged && expiry_ == ExpiryBy::observers &&
        judged->session == holder_->session && judged->revision == holder_->revision &&
        judged->renewal == holder_->renewal) {
      holder_.reset();
    }
    if (!holder_) {
      Record record;
      record.id = record.session = session;
      record.revision = record.token = ++revision_;
      record.ttl = some_ttl();
      holder_ = record;
      ends_ = now + record.ttl;
    }
    const bool ours = holder_->session == session;
    return {ours, holder_, ours ? sent_at : kLongAgo, false};
  }

  RenewReply renew(const Record& record, Instant sent_at, Instant now) {
    expire(now);
    if (!is(record.session, record.revision)) return {false, {}, sent_at, holder_};
    Duration ttl = some_ttl();
    // An answer that is lost must not leave the holder with more than observers grant it.
    if (expiry_ == ExpiryBy::observers) holder_->ttl = ttl = std::max(ttl, holder_->ttl);
    ends_ = std::max(ends_, now + ttl);
    ++holder_->renewal;
    ++revision_;
    return {true, ttl, sent_at, {}};
  }

  ReleaseReply release(const std::string& session, std::uint64_t revision, Instant now) {
    expire(now);
    const bool there =
        revision == 0 ? holder_ && holder_->session == session : is(session, revision);
    if (there) free_it();
    return {there};
  }

  [[nodiscard]] ElectionState state(Instant now) {
    expire(now);
    return {"billing", holder_, revision_, true};
  }
  /// When the holder will be gone by itself.
  [[nodiscard]] Instant ends() const {
    return holder_ && expiry_ == ExpiryBy::store ? ends_ : kNever;
  }

 private:
  [[nodiscard]] bool is(const std::string& session, std::uint64_t revision) const {
    return holder_ && holder_->session == session && holder_->revision == revision;
  }
  Duration some_ttl() {
    return ttl_ / 2 + Duration(static_cast<Duration::rep>(
                          rng_.up_to(static_cast<std::uint64_t>(ttl_.count()))));
  }
  void free_it() {
    holder_.reset();
    ++revision_;
  }
  void expire(Instant now) {
    if (ends() <= now) free_it();
  }

  ExpiryBy expiry_;
  Duration ttl_;
  Rng rng_;
  std::optional<Record> holder_;
  Instant ends_ = kNever;
  std::uint64_t revision_ = 0;
};

}  // namespace tenure::core
