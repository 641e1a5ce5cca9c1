// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/sqlite/environment.h"
#include "stores/sqlite/store.h"

#include <tenure/sqlite_store.h>
#include <tenure/store.h>
#include <tenure/testkit/manual_executor.h>

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace tenure::test {

inline constexpr Duration kTtl = std::chrono::seconds(15);

/// The real file systems, and a boot that the test gives a name to.
inline sqlite::Environment machine(std::string boot_id = "this boot") {
  sqlite::Environment environment;
  environment.boot_id = std::move(boot_id);
  environment.file_system_type = [](const std::string&) { return Result<std::int64_t>(0xEF53); };
  return environment;
}

/// One store on a manual executor, asked one thing at a time.
class Asker {
 public:
  explicit Asker(testkit::ManualExecutor& executor) : executor_(executor) {}

  [[nodiscard]] bool open(SqliteOptions options, sqlite::Environment environment = machine()) {
    auto opened = sqlite::open_store_in(std::move(options), std::move(environment), executor_);
    error_ = opened ? Error{} : opened.error();
    store_ = opened ? std::move(*opened) : nullptr;
    return store_ != nullptr;
  }

  [[nodiscard]] Result<AcquireReply> acquire(const std::string& session,
                                             const std::string& election = "e",
                                             Duration ttl = kTtl) {
    AcquireRequest request;
    request.election = election;
    request.id = "id of " + session;
    request.session = session;
    request.ttl = ttl;
    return wait<AcquireReply>([&](auto done) { store_->acquire(request, std::move(done)); });
  }

  [[nodiscard]] Result<RenewReply> renew(const Record& record, Duration ttl = kTtl) {
    return wait<RenewReply>([&](auto done) {
      store_->renew({record, ttl, kNever}, std::move(done));
    });
  }

  [[nodiscard]] Result<ReleaseReply> release(const Record& record) {
    return wait<ReleaseReply>([&](auto done) {
      store_->release({record.election, record.session, record.revision, kNever}, std::move(done));
    });
  }

  [[nodiscard]] Result<std::vector<ElectionState>> list() {
    return wait<std::vector<ElectionState>>([&](auto done) { store_->list({}, std::move(done)); });
  }

  /// Destroys the store and lets it write what it has to.
  void destroy() {
    store_.reset();
    executor_.run_until_idle();
  }

  [[nodiscard]] LeaseStore& store() { return *store_; }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  template <class Reply, class Ask>
  Result<Reply> wait(Ask ask) {
    auto answer = std::make_shared<std::optional<Result<Reply>>>();
    ask([answer](Result<Reply> reply) { answer->emplace(std::move(reply)); });
    executor_.run_until_idle();
    EXPECT_TRUE(answer->has_value()) << "a request was not answered";
    return answer->has_value() ? **answer : Result<Reply>(fail(Errc::closed, "no answer"));
  }

  testkit::ManualExecutor& executor_;
  std::unique_ptr<LeaseStore> store_;
  Error error_;
};

}  // namespace tenure::test
