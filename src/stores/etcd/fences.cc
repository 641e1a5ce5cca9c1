// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/fences.h"

#include <algorithm>
#include <utility>

namespace tenure::etcd {
namespace {

constexpr std::size_t kMostTerms = 4;

Result<void> check_write(const EtcdWrite& write, const std::optional<EtcdFence>& fence) {
  if (write.key.empty()) return fail(Errc::invalid_argument, "a key in etcd cannot be empty");
  if (!fence) {
    return fail(Errc::not_found, "this store object was never granted election \"" +
                                     write.election + "\" with token " +
                                     std::to_string(write.token));
  }
  if (write.key != fence->key) return {};
  return fail(Errc::invalid_argument, "that key is the candidate's own, which holds the term");
}

}  // namespace

void Fences::add(const Record& record, LeaseId lease) {
  const std::lock_guard lock(mutex_);
  std::vector<Term>& terms = terms_[record.election];
  const bool known = std::any_of(terms.begin(), terms.end(),
                                 [&](const Term& term) { return term.token == record.token; });
  if (known) return;
  if (terms.size() == kMostTerms) terms.erase(terms.begin());
  terms.push_back({record.token, lease});
}

std::optional<EtcdFence> Fences::find(std::string_view prefix, std::string_view election,
                                      std::uint64_t token) const {
  const std::lock_guard lock(mutex_);
  const auto found = terms_.find(std::string(election));
  if (found == terms_.end()) return std::nullopt;
  for (const Term& term : found->second) {
    if (term.token != token) continue;
    return EtcdFence{election_prefix(prefix, election) + to_hex(term.lease),
                     static_cast<std::int64_t>(token)};
  }
  return std::nullopt;
}

void fenced_write(Core& core, EtcdWrite write, const std::optional<EtcdFence>& fence,
                  Completion<EtcdWriteReply> done) {
  if (auto good = check_write(write, fence); !good) return done(tl::unexpected(good.error()));
  core.asks.add<EtcdWriteReply>(
      std::move(done), write.limit,
      [&core, write, fence = *fence](const AskPtr<EtcdWriteReply>& ask) {
        Txn txn;
        txn.conditions = {{fence.key, fence.create_revision}};
        if (write.value) {
          txn.then = {Put{write.key, *write.value}};
        } else {
          txn.then = {Delete{write.key}};
        }
        txn.otherwise = {Range{.key = fence.key, .keys_only = true}};
        ask->in_doubt = true;
        core.cluster->txn(std::move(txn), write.limit, [ask](const Result<TxnReply>& reply) {
          if (!reply) return ask->answer(tl::unexpected(reply.error()));
          ask->answer(
              EtcdWriteReply{reply->succeeded, static_cast<std::uint64_t>(reply->header.revision)});
        });
      });
}

}  // namespace tenure::etcd
