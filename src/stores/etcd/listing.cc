// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/listing.h"

#include "stores/etcd/base_watch.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <utility>

namespace tenure::etcd {
namespace {

using States = std::vector<ElectionState>;

// A list is for people; beyond this many leases the rest is shown without times.
constexpr std::size_t kMostLeases = 256;

struct Listing {
  States states;
  std::map<LeaseId, std::vector<std::size_t>> leases;  // of others: which states rest on them
  std::size_t asked = 0;
  AskPtr<States> ask;
};

void add(Core& core, Listing& listing, const std::string& election,
         const std::vector<KeyValue>& members, Revision revision) {
  ElectionState state;
  state.election = election;
  state.as_of = static_cast<std::uint64_t>(revision);
  if (const KeyValue* const head = head_of(core.prefix_of(election), members)) {
    state.holder = core.record(election, *head);
    if (state.holder->ttl == Duration::zero()) {
      listing.leases[head->lease].push_back(listing.states.size());
    }
  }
  listing.states.push_back(std::move(state));
}

void ask_for_times(Core& core, const std::shared_ptr<Listing>& listing, Instant limit) {
  for (const auto& [lease, rests] : listing->leases) {
    if (listing->asked == kMostLeases) break;
    ++listing->asked;
    const Instant sent_at = core.now();
    core.cluster->time_to_live(
        lease, false, limit, [listing, &rests = rests, sent_at](const Result<LeaseInfo>& info) {
          for (const std::size_t index : rests) {
            if (!info || info->granted == Duration::zero()) break;
            Record& record = *listing->states[index].holder;
            record.ttl = info->granted;
            // Rounded down to whole seconds by the server.
            record.expires_at = saturating_add(sent_at, info->left + std::chrono::seconds(1));
          }
          if (--listing->asked == 0) listing->ask->answer(std::move(listing->states));
        });
  }
  if (listing->asked == 0) listing->ask->answer(std::move(listing->states));
}

}  // namespace

void list(Core& core, const ListRequest& request, const AskPtr<States>& ask) {
  Txn txn;
  txn.then = {request.election.empty() ? everything(core) : core.members(request.election)};
  core.reads.add(std::move(txn), {}, request.limit,
                 [&core, request, ask](const Result<TxnReply>& reply) {
                   if (!reply) return ask->answer(tl::unexpected(reply.error()));
                   const auto& kvs = reply->ops.front().kvs;
                   const Revision revision = reply->header.revision;
                   auto listing = std::make_shared<Listing>();
                   listing->ask = ask;
                   if (!request.election.empty()) {
                     add(core, *listing, request.election, kvs, revision);
                   } else {
                     for (const auto& [election, members] : by_election(core, kvs)) {
                       add(core, *listing, election, members, revision);
                     }
                   }
                   ask_for_times(core, listing, request.limit);
                 });
}

}  // namespace tenure::etcd
