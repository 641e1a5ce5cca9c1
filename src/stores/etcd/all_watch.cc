// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/base_watch.h"

#include <algorithm>
#include <utility>

namespace tenure::etcd {

Range everything(const Core& core) {
  const std::string& prefix = core.roster.prefix();
  return {prefix.empty() ? std::string(1, '\0') : prefix, end_of_prefix(prefix)};
}

std::map<std::string, std::vector<KeyValue>> by_election(const Core& core,
                                                         const std::vector<KeyValue>& kvs) {
  std::map<std::string, std::vector<KeyValue>> elections;
  const std::string& prefix = core.roster.prefix();
  for (const KeyValue& kv : kvs) {
    if (const auto name = election_of(prefix, kv)) elections[std::string(*name)];
  }
  // What stands in line without being anybody's candidate counts where there is an election.
  for (const KeyValue& kv : kvs) {
    const auto slash = kv.key.rfind('/');
    if (slash == std::string::npos || slash <= prefix.size()) continue;
    const auto found = elections.find(kv.key.substr(prefix.size(), slash - prefix.size()));
    if (found != elections.end() && slash + 1 < kv.key.size()) found->second.push_back(kv);
  }
  return elections;
}

void AllWatch::start() { watch_keys({core_.roster.prefix()}, core_.roster.prefix()); }

std::vector<Op> AllWatch::reads() const { return {everything(core_)}; }

void AllWatch::on_live(const std::string& /*key*/, Revision revision) {
  live_at_ = revision;
  for (auto& [election, view] : views_) view.live(view.prefix(), revision);
  read();
}

void AllWatch::on_read(const TxnReply& reply) {
  auto elections = by_election(core_, reply.ops.front().kvs);
  // What is not there any more is free; that is told too.
  for (const auto& [election, view] : views_) elections[election];
  for (auto& [election, members] : elections) {
    const auto view = views_.try_emplace(election, core_.prefix_of(election), false);
    if (view.second) {
      view.first->second.watch_election();
      view.first->second.live(view.first->second.prefix(), live_at_);
    }
    view.first->second.read(reply.header.revision, members);
  }
  for (const auto& [election, members] : elections) tell_of(election);
}

void AllWatch::on_event(const WatchEvent& event) {
  const std::string& prefix = core_.roster.prefix();
  const auto slash = event.kv.key.rfind('/');
  if (slash == std::string::npos || slash <= prefix.size()) return;
  const std::string election = event.kv.key.substr(prefix.size(), slash - prefix.size());
  auto found = views_.find(election);
  if (found == views_.end()) {
    if (event.deleted || !election_of(prefix, event.kv)) return;
    found = views_.try_emplace(election, core_.prefix_of(election), false).first;
    found->second.watch_election();
    found->second.read(event.kv.mod_revision - 1, {});
  }
  found->second.event(event);
  tell_of(election);
}

void AllWatch::tell_of(const std::string& election) {
  const auto found = views_.find(election);
  if (found == views_.end()) return;
  const auto sight = found->second.take();
  if (!sight) return;
  ElectionState state;
  state.election = election;
  state.as_of = static_cast<std::uint64_t>(sight->as_of);
  if (sight->head) {
    state.holder = core_.record(election, *sight->head);
  } else {
    views_.erase(found);
  }
  tell(std::move(state));
}

}  // namespace tenure::etcd
