// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "writers/writer.h"

#include <charconv>
#include <utility>

namespace tenure::sim {
namespace {

core::LeaseTerms terms_of(const WritersOptions& options) {
  core::LeaseTerms terms{.lease = options.lease, .retry_interval = options.retry_interval};
  terms.backoff.first = options.first_backoff > Duration::zero()
                            ? options.first_backoff
                            : options.spread + options.watch_delay;
  return terms;
}

}  // namespace

Writer::Writer(const WritersOptions& options, std::uint64_t seed)
    : guarded_(options.guarded), lease_(terms_of(options), seed), keys_(options.keys) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    keys_[i].name = std::to_string(i);
    keys_[i].hash = core::hash_key(keys_[i].name);
  }
}

void Writer::want(std::size_t index, Value value, Instant now) {
  Key& key = keys_[index];
  if (key.wanted != value) key.contention.on_new_wish(now);
  key.wanted = value;
  if (key.seen.value == value) {
    lease_.remove(key.name, key.hash);
  } else {
    submit(key, now);
  }
}

void Writer::see(std::size_t index, const Object& object, Instant now) {
  Key& key = keys_[index];
  if (object.version <= key.seen.version) return;
  key.seen = object;
  if (key.wanted == 0) return;
  if (object.value == key.wanted) {
    lease_.extend(key.name, key.hash, now);
    return;
  }
  if (guarded_) key.contention.on_foreign(terms_, now);
  submit(key, now);
}

std::optional<Writer::Write> Writer::run(Instant now) {
  while (!job_) {
    core::LeaseCore::Job job = lease_.take(now);
    if (!job) return std::nullopt;
    const std::size_t index = index_of(job.key);
    const Key& key = keys_[index];
    if (key.seen.value == key.wanted) {
      lease_.finish(std::move(job), {WorkEffect::none}, now);
    } else if (guarded_ && key.contention.contended(now)) {
      lease_.finish(std::move(job), {WorkEffect::none, true}, now);
    } else {
      job_ = std::move(job);
      writing_ = index;
      return Write{index, key.wanted, key.seen.version};
    }
  }
  return std::nullopt;
}

void Writer::answer(bool accepted, const Object& object, Instant now) {
  Key& key = keys_[writing_];
  if (accepted) key.seen = object;
  lease_.finish(std::exchange(job_, {}),
                accepted ? WorkResult{WorkEffect::extend} : WorkResult{WorkEffect::release, true},
                now);
}

Instant Writer::next_due() noexcept { return job_ ? kNever : lease_.next_due(); }

void Writer::submit(const Key& key, Instant now) {
  lease_.submit(
      key.name, key.hash, [] { return WorkResult{}; }, now);
}

std::size_t Writer::index_of(std::string_view name) const noexcept {
  std::size_t index = 0;
  std::from_chars(name.data(), name.data() + name.size(), index);
  return index;
}

}  // namespace tenure::sim
