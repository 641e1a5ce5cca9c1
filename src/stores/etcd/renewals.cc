// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/renewals.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tenure::etcd {
namespace {

constexpr std::size_t kMostChecks = 100;
// After a change of etcd's leader; a try costs two round trips.
constexpr Duration kPause = std::chrono::milliseconds(20);

}  // namespace

void Renewals::renew(const RenewRequest& request, const AskPtr<RenewReply>& ask) {
  const Record& record = request.record;
  const auto candidate = core_.roster.find(record.election, record.session);
  const auto revision = static_cast<Revision>(record.revision);
  if (candidate == nullptr || candidate->revision != revision || !candidate->holding) {
    return not_held(record.election, request.limit, ask);
  }
  const LeasePtr lease = candidate->lease;
  Round& round = rounds_[lease];
  round.waiting.push_back({candidate, revision, request.limit, ask});
  if (round.under_way) return;
  round.under_way = true;
  // What else is due now comes with it.
  core_.executor.post([this, lease] { begin(lease); });
}

void Renewals::begin(const LeasePtr& lease) {
  Round& round = rounds_[lease];
  round.pause = nullptr;
  std::erase_if(round.waiting, [](const One& one) { return !one.ask->open(); });
  if (round.waiting.empty()) {
    rounds_.erase(lease);
    return;
  }
  auto many = std::make_shared<Many>(std::exchange(round.waiting, {}));
  // Asked for now, so not by what the keeper sent earlier.
  const auto keep = [this, lease, many] {
    // They are being renewed, so none of them lapses because of this keepalive.
    for (const One& one : *many) one.candidate->lapses_at = kNever;
    keeper_.keep(lease, [this, lease, many](const Result<void>& kept) {
      const Instant now = core_.now();
      for (const One& one : *many) {
        if (one.candidate->holding) {
          one.candidate->lapses_at =
              std::max(now, saturating_add(lease->machine.sent_at(), lease->machine.ttl()));
        }
      }
      if (kept) return check(lease, many);
      if (kept.error().code == Errc::not_found) {
        for (const One& one : *many) not_held(one.candidate->election, one.limit, one.ask);
      } else {
        fail_all(*many, kept.error());
      }
      begin(lease);
    });
  };
  if (!lease->asking) return keep();
  keeper_.keep(lease, [keep](const Result<void>&) { keep(); });
}

void Renewals::check(const LeasePtr& lease, const std::shared_ptr<Many>& many) {
  auto left = std::make_shared<std::size_t>(0);
  std::vector<Many> split;
  for (auto next = many->begin(); next != many->end();) {
    const auto count = std::min<std::ptrdiff_t>(kMostChecks, many->end() - next);
    split.emplace_back(next, next + count);
    next += count;
  }
  *left = split.size();
  for (Many& part : split) {
    Txn txn;
    Instant limit = kLongAgo;
    for (const One& one : part) {
      txn.conditions.push_back({one.candidate->key, one.revision, true});
      txn.otherwise.emplace_back(Range{.key = one.candidate->key});
      limit = std::max(limit, one.limit);
    }
    // Without a range, and one that is not serializable, no quorum would be asked.
    txn.then.emplace_back(Range{.key = part.front().candidate->key, .keys_only = true});
    auto kept = std::make_shared<Many>(std::move(part));
    core_.cluster->txn(std::move(txn), limit, [this, lease, kept, left](Result<TxnReply> reply) {
      checked(lease, std::move(*kept), std::move(reply));
      if (--*left == 0) next(lease);
    });
  }
}

void Renewals::checked(const LeasePtr& lease, Many part, Result<TxnReply> reply) {
  if (!reply) return fail_all(part, reply.error());
  std::vector<bool> there(part.size(), reply->succeeded);
  for (std::size_t i = 0; i < part.size() && !reply->succeeded; ++i) {
    const auto& kvs = i < reply->ops.size() ? reply->ops[i].kvs : std::vector<KeyValue>{};
    there[i] = !kvs.empty() && kvs.front().create_revision == part[i].revision &&
               kvs.front().lease == lease->machine.id();
  }
  const bool any = std::find(there.begin(), there.end(), true) != there.end();
  const bool confirmed = any && lease->machine.shown(reply->header, reply->sent_at);
  for (std::size_t i = 0; i < part.size(); ++i) {
    const One& one = part[i];
    if (!there[i]) {
      not_held(one.candidate->election, one.limit, one.ask);
    } else if (confirmed) {
      held(lease, one);
    } else {
      // Another leader came between keepalive and read: once more, with its term.
      rounds_[lease].unsure = true;
      rounds_[lease].waiting.push_back(one);
    }
  }
}

void Renewals::next(const LeasePtr& lease) {
  Round& round = rounds_[lease];
  if (!std::exchange(round.unsure, false)) return begin(lease);
  round.pause =
      core_.executor.at(saturating_add(core_.now(), kPause), [this, lease] { begin(lease); });
}

void Renewals::held(const LeasePtr& lease, const One& one) {
  RenewReply reply;
  reply.held = true;
  reply.ttl = lease->machine.ttl();
  reply.sent_at = lease->machine.sent_at();
  if (one.candidate->revision == one.revision && one.candidate->holding) {
    one.candidate->lapses_at = saturating_add(reply.sent_at, reply.ttl);
  }
  one.ask->answer(std::move(reply));
}

void Renewals::not_held(const std::string& election, Instant limit, const AskPtr<RenewReply>& ask) {
  Txn txn;
  txn.then = {core_.members(election)};
  core_.reads.add(std::move(txn), {}, limit, [this, election, ask](const Result<TxnReply>& reply) {
    if (!reply) return ask->answer(tl::unexpected(reply.error()));
    RenewReply answer;
    const KeyValue* const head = head_of(core_.prefix_of(election), reply->ops.front().kvs);
    if (head != nullptr) answer.holder = core_.record(election, *head);
    ask->answer(std::move(answer));
  });
}

void Renewals::fail_all(const Many& many, const Error& error) {
  for (const One& one : many) one.ask->answer(tl::unexpected(error));
}

}  // namespace tenure::etcd
