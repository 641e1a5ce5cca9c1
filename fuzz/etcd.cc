// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/codec.h"
#include "stores/etcd/keys.h"

#include "fuzz.h"

namespace codec = tenure::etcd::codec;
using tenure::fuzz::require;

namespace {

void read_keys(const std::vector<tenure::etcd::KeyValue>& kvs) {
  const auto* head = tenure::etcd::head_of("p/e/", kvs);
  for (const auto& kv : kvs) {
    const bool is_member = tenure::etcd::is_member("p/e/", kv.key);
    require(!is_member || (head != nullptr && !tenure::etcd::stands_before(kv, *head)),
            "nobody stands before the head");
    const auto record = tenure::etcd::to_record("e", kv);
    require(record.election == "e", "a member is a record of its election");
    if (const auto election = tenure::etcd::election_of("p/", kv)) {
      require(kv.key.starts_with(tenure::etcd::election_prefix("p/", *election)),
              "a key lies in its election");
    }
  }
}

}  // namespace

// What an etcd server answers, as bytes: every decoder takes any of it.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes = tenure::fuzz::text_of(data + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      if (const auto reply = codec::decode_txn(bytes)) {
        for (const auto& op : reply->ops) read_keys(op.kvs);
      }
      break;
    case 1:
      (void)codec::decode_grant(bytes);
      break;
    case 2:
      (void)codec::decode_revoke(bytes);
      break;
    case 3:
      (void)codec::decode_keep_alive(bytes);
      break;
    case 4:
      (void)codec::decode_time_to_live(bytes);
      break;
    case 5:
      (void)codec::decode_watch(bytes);
      break;
    case 6:
      (void)codec::decode_authenticate(bytes);
      break;
    default:
      (void)codec::decode_status(bytes);
      break;
  }
  return 0;
}
