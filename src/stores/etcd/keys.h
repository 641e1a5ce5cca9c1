// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/types.h"

#include <tenure/store.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The layout of Go's clientv3/concurrency, which etcdctl and the server's own Election and Lock
/// services use too: a candidate is the key PREFIX NAME "/" LEASE, its value what is proclaimed,
/// attached to that lease; the key with the lowest create revision leads.
///
/// Names may hold slashes, so the keys of "a/b" lie in the range of "a". The rule: the members of
/// an election are the keys whose rest after PREFIX NAME "/" holds no further slash, whatever else
/// the rest is (a foreign key stands in line for us as it does for a Go client). A Go client counts
/// the nested keys too; so it may wait for one of "a/b" when it stands in "a", but since it leads
/// only when it is the oldest of all, it is then the oldest member too: two never lead.
namespace tenure::etcd {

/// The range of the keys that begin with a prefix.
[[nodiscard]] std::string end_of_prefix(std::string_view prefix);

/// A lease id as it stands in keys: lower-case hexadecimal without padding.
[[nodiscard]] std::string to_hex(LeaseId id);

/// PREFIX NAME "/".
[[nodiscard]] std::string election_prefix(std::string_view prefix, std::string_view election);

/// Whether `key` is a member of the election with that election_prefix().
[[nodiscard]] bool is_member(std::string_view election_prefix, std::string_view key) noexcept;

/// The election whose member a key is, by its form and its lease: for reading all elections. A key
/// that no lease holds, or whose last part is not its lease, is nobody's candidate.
[[nodiscard]] std::optional<std::string_view> election_of(std::string_view prefix,
                                                          const KeyValue& kv);

/// Whether `a` stands before `b` in line. Create revisions are equal only if one transaction made
/// both, which tenure never does; then the key decides.
[[nodiscard]] bool stands_before(const KeyValue& a, const KeyValue& b) noexcept;

/// The oldest member of the election, or null. `kvs` may hold keys that are none.
[[nodiscard]] const KeyValue* head_of(std::string_view election_prefix,
                                      const std::vector<KeyValue>& kvs) noexcept;

/// A member as a record. The session is the last part of the key, the id the value (the session
/// where the value is empty, as a lock's is). Without a lease the ttl is kForever.
[[nodiscard]] Record to_record(std::string_view election, const KeyValue& kv);

/// The ttl in whole seconds that a lease is asked for: rounded up, at most a day.
[[nodiscard]] std::int64_t lease_seconds(Duration ttl) noexcept;

}  // namespace tenure::etcd
