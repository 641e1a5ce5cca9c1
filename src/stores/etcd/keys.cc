// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/keys.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <system_error>

namespace tenure::etcd {
namespace {

std::string_view last_part(std::string_view key) noexcept {
  const auto slash = key.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : key.substr(slash + 1);
}

}  // namespace

std::string end_of_prefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty()) {
    const auto last = static_cast<unsigned char>(end.back());
    if (last != 0xFFU) {
      end.back() = static_cast<char>(last + 1U);
      return end;
    }
    end.pop_back();
  }
  return std::string(1, '\0');
}

std::string to_hex(LeaseId id) {
  char digits[20];
  const auto result = std::to_chars(std::begin(digits), std::end(digits), id, 16);
  return {std::begin(digits), result.ptr};
}

std::string election_prefix(std::string_view prefix, std::string_view election) {
  std::string text;
  text.reserve(prefix.size() + election.size() + 20);
  text += prefix;
  text += election;
  text += '/';
  return text;
}

bool is_member(std::string_view election_prefix, std::string_view key) noexcept {
  return key.size() > election_prefix.size() && key.starts_with(election_prefix) &&
         key.find('/', election_prefix.size()) == std::string_view::npos;
}

std::optional<std::string_view> election_of(std::string_view prefix, const KeyValue& kv) {
  const std::string_view key = kv.key;
  if (kv.lease == 0 || !key.starts_with(prefix)) return std::nullopt;
  const std::string_view part = last_part(key);
  LeaseId id = 0;
  const auto result = std::from_chars(part.data(), part.data() + part.size(), id, 16);
  if (result.ec != std::errc() || result.ptr != part.data() + part.size() || id != kv.lease) {
    return std::nullopt;
  }
  if (key.size() < prefix.size() + part.size() + 2) return std::nullopt;
  const auto name = key.substr(prefix.size(), key.size() - prefix.size() - part.size() - 1);
  return check_name("election", name) ? std::optional(name) : std::nullopt;
}

bool stands_before(const KeyValue& a, const KeyValue& b) noexcept {
  return a.create_revision != b.create_revision ? a.create_revision < b.create_revision
                                                : a.key < b.key;
}

const KeyValue* head_of(std::string_view election_prefix,
                        const std::vector<KeyValue>& kvs) noexcept {
  const KeyValue* head = nullptr;
  for (const KeyValue& kv : kvs) {
    if (!is_member(election_prefix, kv.key)) continue;
    if (head == nullptr || stands_before(kv, *head)) head = &kv;
  }
  return head;
}

Record to_record(std::string_view election, const KeyValue& kv) {
  Record record;
  record.election = election;
  record.session = last_part(kv.key);
  record.id = kv.value.empty() ? record.session : kv.value;
  record.revision = static_cast<std::uint64_t>(kv.create_revision);
  record.token = record.revision;
  if (kv.lease == 0) record.ttl = kForever;
  return record;
}

std::int64_t lease_seconds(Duration ttl) noexcept {
  using std::chrono::seconds;
  constexpr std::int64_t kDay = 86'400;
  const std::int64_t whole = std::chrono::duration_cast<seconds>(ttl).count();
  return std::clamp<std::int64_t>(whole + (ttl % seconds(1) > Duration::zero() ? 1 : 0), 1, kDay);
}

}  // namespace tenure::etcd
