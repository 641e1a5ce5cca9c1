// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/store.h"

#include "stores/etcd/candidacy.h"
#include "stores/etcd/client.h"
#include "stores/etcd/core.h"
#include "stores/etcd/fences.h"
#include "stores/etcd/keeper.h"
#include "stores/etcd/listing.h"
#include "stores/etcd/options.h"
#include "stores/etcd/renewals.h"
#include "stores/etcd/watching.h"

#include <chrono>
#include <utility>
#include <vector>

namespace tenure::etcd {
namespace {

using States = std::vector<ElectionState>;

// A lease that is not revoked at the end only costs the server a little until it expires.
constexpr Duration kFarewell = std::chrono::milliseconds(500);

Error closed_error() { return {Errc::closed, "the etcd store is closed"}; }

Result<void> check_ttl(const StoreTraits& traits, Duration ttl) {
  if (ttl >= traits.min_ttl) return {};
  return fail(Errc::invalid_argument,
              "the ttl of an etcd store must be at least 1 s: etcd counts in whole seconds");
}

Result<void> check_fields(const StoreTraits& traits, const AcquireRequest& request) {
  if (auto good = check_name("election", request.election); !good) return good;
  if (auto good = check_name("id", request.id); !good) return good;
  if (auto good = check_name("session", request.session); !good) return good;
  return check_ttl(traits, request.ttl);
}

Result<void> check_fields(const StoreTraits& traits, const RenewRequest& request) {
  if (auto good = check_name("election", request.record.election); !good) return good;
  return check_ttl(traits, request.ttl);
}

Result<void> check_fields(const StoreTraits& /*traits*/, const ReleaseRequest& request) {
  if (auto good = check_name("election", request.election); !good) return good;
  return check_name("session", request.session);
}

Result<void> check_fields(const StoreTraits& /*traits*/, const ListRequest& request) {
  return request.election.empty() ? Result<void>() : check_name("election", request.election);
}

// All of a store object that belongs to the loop.
struct Works {
  Works(std::unique_ptr<Cluster> cluster, Executor& executor, std::string prefix)
      : core(std::move(cluster), executor, std::move(prefix)) {}

  Core core;
  Keeper keeper{core};
  Watching watching{core};
  Candidacy candidacy{core, keeper, watching};
  Renewals renewals{core, keeper};
};

class Store final : public EtcdStore {
 public:
  Store(std::unique_ptr<Cluster> cluster, Executor& executor, std::string prefix)
      : executor_(executor),
        works_(std::make_shared<Works>(std::move(cluster), executor, std::move(prefix))),
        fences_(std::make_shared<Fences>()) {
    traits_.kind = "etcd";
    traits_.has_queue = true;
    traits_.private_sessions = true;
    traits_.min_ttl = std::chrono::seconds(1);
  }

  ~Store() override {
    shut();
    // One of its own calls may be what destroys the store.
    executor_.post([works = std::move(works_)] {});
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] const StoreTraits& traits() const noexcept override { return traits_; }

  void acquire(AcquireRequest request, Completion<AcquireReply> done) override {
    Completion<AcquireReply> noted = [done = std::move(done), fences = fences_,
                                      works = std::weak_ptr(works_)](Result<AcquireReply> reply) {
      const auto alive = works.lock();
      if (alive != nullptr && reply && reply->ours) {
        const Record& record = *reply->record;
        const auto candidate = alive->core.roster.find(record.election, record.session);
        if (candidate != nullptr) fences->add(record, candidate->lease->machine.id());
      }
      done(std::move(reply));
    };
    submit<AcquireReply>(std::move(request), std::move(noted),
                         [works = works_.get()](const auto& wanted, const auto& ask) {
                           works->candidacy.acquire(wanted, ask);
                         });
  }

  void renew(RenewRequest request, Completion<RenewReply> done) override {
    submit<RenewReply>(std::move(request), std::move(done),
                       [works = works_.get()](const auto& wanted, const auto& ask) {
                         works->renewals.renew(wanted, ask);
                       });
  }

  void release(ReleaseRequest request, Completion<ReleaseReply> done) override {
    submit<ReleaseReply>(std::move(request), std::move(done),
                         [works = works_.get()](const auto& wanted, const auto& ask) {
                           works->candidacy.release(wanted, ask);
                         });
  }

  void list(ListRequest request, Completion<States> done) override {
    submit<States>(std::move(request), std::move(done),
                   [works = works_.get()](const auto& wanted, const auto& ask) {
                     etcd::list(works->core, wanted, ask);
                   });
  }

  [[nodiscard]] std::unique_ptr<Watch> watch(
      WatchRequest request, std::function<void(Result<ElectionState>)> on_state) override {
    Result<void> good;
    if (!request.election.empty()) good = check_name("election", request.election);
    if (works_->core.closed) good = tl::unexpected(closed_error());
    if (!good) return works_->watching.refused(std::move(on_state), good.error());
    return works_->watching.watch(std::move(request), std::move(on_state));
  }

  void close(std::function<void()> done) override {
    if (works_->core.closed) return executor_.post(std::move(done));
    executor_.post([works = works_, done = std::move(done)] { farewell(works, done); });
    works_->core.closed = true;
  }

  [[nodiscard]] std::optional<EtcdFence> fence(std::string_view election,
                                               std::uint64_t token) const override {
    return fences_->find(works_->core.roster.prefix(), election, token);
  }

  void write(EtcdWrite write, Completion<EtcdWriteReply> done) override {
    auto fenced = fence(write.election, write.token);
    executor_.post([works = std::weak_ptr(works_), write = std::move(write), done = std::move(done),
                    fenced = std::move(fenced)]() mutable {
      const auto alive = works.lock();
      if (alive == nullptr || alive->core.closed) return done(tl::unexpected(closed_error()));
      fenced_write(alive->core, std::move(write), fenced, std::move(done));
    });
  }

 private:
  template <class Reply, class Request, class Serve>
  void submit(Request request, Completion<Reply> done, Serve serve) {
    Core& core = works_->core;
    const Result<void> good = check_fields(traits_, request);
    if (core.closed) return core.asks.refuse<Reply>(std::move(done), closed_error());
    if (!good) return core.asks.refuse<Reply>(std::move(done), good.error());
    const Instant limit = request.limit;
    core.asks.add<Reply>(
        std::move(done), limit,
        [serve, wanted = std::move(request)](const AskPtr<Reply>& ask) { serve(wanted, ask); });
  }

  // Leases without candidates are given back; those of records that are held, or stand in line, are
  // left to their ttl.
  static void farewell(const std::shared_ptr<Works>& works, const std::function<void()>& done) {
    Core& core = works->core;
    works->watching.close(closed_error());
    core.asks.close();
    auto left = std::make_shared<std::size_t>(1);
    const auto one_less = [works, left, done] {
      if (--*left > 0) return;
      works->core.cluster->close();
      done();
    };
    const Instant limit = saturating_add(core.now(), kFarewell);
    for (const LeasePtr& lease : core.roster.leases()) {
      lease->timer = nullptr;
      if (!lease->candidates.empty() || lease->machine.state() != Lease::State::alive) continue;
      ++*left;
      core.cluster->revoke(lease->machine.id(), limit, [one_less](const auto&) { one_less(); });
    }
    one_less();
  }

  void shut() {
    Core& core = works_->core;
    core.closed = true;
    works_->watching.close(closed_error());
    core.asks.close();
    core.cluster->close();
  }

  Executor& executor_;
  StoreTraits traits_;
  std::shared_ptr<Works> works_;
  std::shared_ptr<Fences> fences_;
};

}  // namespace

std::unique_ptr<EtcdStore> make_store(std::unique_ptr<Cluster> cluster, Executor& executor,
                                      std::string prefix) {
  return std::make_unique<Store>(std::move(cluster), executor, std::move(prefix));
}

}  // namespace tenure::etcd

namespace tenure {

Result<std::unique_ptr<EtcdStore>> open_etcd_store(EtcdOptions options, Executor& executor) {
  if (auto good = etcd::check_options(options); !good) return tl::unexpected(good.error());
  std::string prefix = options.prefix;
  auto client =
      std::make_unique<etcd::Client>(std::move(options), executor, etcd::open_grpc_channel);
  return etcd::make_store(std::move(client), executor, std::move(prefix));
}

}  // namespace tenure
