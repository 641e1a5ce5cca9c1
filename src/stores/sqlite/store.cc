// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/store.h"

#include <tenure/store.h>

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "stores/sqlite/client.h"

namespace tenure::sqlite {
namespace {

Result<void> check_request(const StoreTraits& traits, const AcquireRequest& request) {
  if (auto good = check_name("election", request.election); !good) return good;
  if (auto good = check_name("id", request.id); !good) return good;
  if (auto good = check_name("session", request.session); !good) return good;
  if (request.ttl >= traits.min_ttl) return {};
  return fail(Errc::invalid_argument, "the ttl of a sqlite store must be at least 100 ms");
}

Result<void> check_request(const StoreTraits& traits, const RenewRequest& request) {
  if (auto good = check_name("election", request.record.election); !good) return good;
  if (request.ttl >= traits.min_ttl) return {};
  return fail(Errc::invalid_argument, "the ttl of a sqlite store must be at least 100 ms");
}

Result<void> check_request(const StoreTraits& /*traits*/, const ReleaseRequest& request) {
  if (auto good = check_name("election", request.election); !good) return good;
  return check_name("session", request.session);
}

Result<void> check_request(const StoreTraits& /*traits*/, const ListRequest& request) {
  return request.election.empty() ? Result<void>{} : check_name("election", request.election);
}

class SqliteStore final : public LeaseStore {
 public:
  SqliteStore(std::shared_ptr<Engine> engine, Executor& executor)
      : process_(::getpid()), client_(std::make_shared<Client>(std::move(engine), executor)) {}

  const StoreTraits& traits() const noexcept override { return traits_; }

  void acquire(AcquireRequest request, Completion<AcquireReply> done) override {
    submit(std::move(request), std::move(done));
  }

  void renew(RenewRequest request, Completion<RenewReply> done) override {
    submit(std::move(request), std::move(done));
  }

  void release(ReleaseRequest request, Completion<ReleaseReply> done) override {
    submit(std::move(request), std::move(done));
  }

  void list(ListRequest request, Completion<std::vector<ElectionState>> done) override {
    submit(std::move(request), std::move(done));
  }

  std::unique_ptr<Watch> watch(WatchRequest request,
                               std::function<void(Result<ElectionState>)> on_state) override {
    Result<void> good =
        request.election.empty() ? Result<void>{} : check_name("election", request.election);
    if (good) good = check_process();
    return client_->watch(std::move(request), std::move(on_state), good);
  }

  void close(std::function<void()> done) override { client_->shut(std::move(done)); }

  int inherited_fd() const noexcept override { return client_->engine().inherited_fd(); }

 private:
  [[nodiscard]] Result<void> check_process() const {
    if (::getpid() == process_) return {};
    return fail(Errc::unsupported, "a store cannot be used in a forked child; open another there");
  }

  template <class Request, class Done>
  void submit(Request request, Done done) {
    Result<void> good = check_request(traits_, request);
    if (good) good = check_process();
    if (good || client_->is_shut()) {
      client_->submit(make_operation(std::move(request), std::move(done)));
      return;
    }
    client_->executor().post([done = std::move(done), error = std::move(good.error())] {
      done(tl::unexpected<Error>(error));
    });
  }

  const StoreTraits traits_{.kind = "sqlite"};
  const pid_t process_;
  std::shared_ptr<Client> client_;
};

}  // namespace

Result<std::unique_ptr<LeaseStore>> open_store_in(SqliteOptions options, Environment environment,
                                                  Executor& executor) {
  auto engine = std::make_shared<Engine>(std::move(options), std::move(environment), executor);
  if (auto open = engine->open(); !open) return tl::unexpected<Error>(std::move(open.error()));
  return std::make_unique<SqliteStore>(std::move(engine), executor);
}

}  // namespace tenure::sqlite

namespace tenure {

Result<std::unique_ptr<LeaseStore>> open_sqlite_store(SqliteOptions options, Executor& executor) {
  auto environment = sqlite::read_environment();
  if (!environment) return tl::unexpected<Error>(std::move(environment.error()));
  return sqlite::open_store_in(std::move(options), std::move(*environment), executor);
}

}  // namespace tenure
