// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/core.h"

#include <tenure/etcd_store.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenure::etcd {

/// The terms that a store object was granted, by election and token: where their keys are. Of each
/// election the newest few are kept, since a term that has ended is still asked for by those who
/// were slow. Thread-safe.
class Fences {
 public:
  void add(const Record& record, LeaseId lease);
  [[nodiscard]] std::optional<EtcdFence> find(std::string_view prefix, std::string_view election,
                                              std::uint64_t token) const;

 private:
  struct Term {
    std::uint64_t token = 0;
    LeaseId lease = 0;
  };
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::vector<Term>> terms_;
};

/// Carries out one fenced write.
void fenced_write(Core& core, EtcdWrite write, const std::optional<EtcdFence>& fence,
                  Completion<EtcdWriteReply> done);

}  // namespace tenure::etcd
