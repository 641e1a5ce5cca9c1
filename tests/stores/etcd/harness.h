// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/clock.h>
#include <tenure/etcd_store.h>
#include <tenure/testkit/manual_executor.h>

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/eventually.h"

namespace tenure::test {

/// Store objects on one loop that the test itself turns, in real time.
class EtcdClients {
 public:
  [[nodiscard]] testkit::ManualExecutor& executor() { return executor_; }
  [[nodiscard]] Instant now() { return executor_.clock().now(); }
  [[nodiscard]] Instant in(Duration time) { return saturating_add(now(), time); }

  [[nodiscard]] std::shared_ptr<EtcdStore> open(const std::string& url) {
    auto options = parse_etcd_url(url);
    EXPECT_TRUE(options.has_value()) << options.error().message;
    return open(*options);
  }
  [[nodiscard]] std::shared_ptr<EtcdStore> open(const EtcdOptions& options) {
    auto store = open_etcd_store(options, executor_);
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return std::move(*store);
  }

  [[nodiscard]] bool pump(const std::function<bool()>& condition, Duration limit = kPatience) {
    return executor_.wait_until(condition, limit);
  }
  void pass(Duration time) {
    bool over = false;
    const auto timer = executor_.at(in(time), [&over] { over = true; });
    EXPECT_TRUE(pump([&over] { return over; }));
  }

  template <class T>
  using Pending = std::shared_ptr<std::optional<Result<T>>>;

  template <class T, class Request>
  [[nodiscard]] Pending<T> begin(LeaseStore& store,
                                 void (LeaseStore::*verb)(Request, Completion<T>),
                                 Request request) {
    auto answer = std::make_shared<std::optional<Result<T>>>();
    (store.*verb)(std::move(request), [answer](Result<T> result) { *answer = std::move(result); });
    return answer;
  }
  template <class T>
  [[nodiscard]] Result<T> wait(const Pending<T>& answer) {
    EXPECT_TRUE(pump([&] { return answer->has_value(); })) << "no answer";
    return answer->value_or(fail(Errc::timed_out, "no answer"));
  }

  [[nodiscard]] AcquireRequest asking(const std::string& election, const std::string& session,
                                      Duration ttl = std::chrono::seconds(10)) {
    return {election, "id of " + session, session, ttl, in(std::chrono::seconds(10))};
  }
  [[nodiscard]] Result<AcquireReply> acquire(LeaseStore& store, AcquireRequest request) {
    return wait(begin(store, &LeaseStore::acquire, std::move(request)));
  }
  [[nodiscard]] Result<AcquireReply> acquire(LeaseStore& store, const std::string& election,
                                             const std::string& session) {
    return acquire(store, asking(election, session));
  }
  /// Acquires what must be free.
  [[nodiscard]] Record hold(LeaseStore& store, const std::string& election,
                            const std::string& session) {
    const auto reply = acquire(store, election, session);
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_TRUE(reply && reply->ours) << session << " did not get " << election;
    return reply && reply->record ? *reply->record : Record{};
  }
  [[nodiscard]] Pending<RenewReply> begin_renew(LeaseStore& store, const Record& record,
                                                Duration limit = std::chrono::seconds(10)) {
    return begin(store, &LeaseStore::renew, RenewRequest{record, record.ttl, in(limit)});
  }
  [[nodiscard]] Result<ReleaseReply> release(LeaseStore& store, const std::string& election,
                                             const std::string& session,
                                             std::uint64_t revision = 0) {
    return wait(begin(store, &LeaseStore::release,
                      ReleaseRequest{election, session, revision, in(std::chrono::seconds(10))}));
  }
  [[nodiscard]] Result<EtcdWriteReply> write(EtcdStore& store, EtcdWrite write) {
    auto answer = std::make_shared<std::optional<Result<EtcdWriteReply>>>();
    write.limit = in(std::chrono::seconds(10));
    store.write(std::move(write), [answer](auto result) { *answer = std::move(result); });
    return wait<EtcdWriteReply>(answer);
  }
  void close(LeaseStore& store) {
    bool closed = false;
    store.close([&closed] { closed = true; });
    EXPECT_TRUE(pump([&closed] { return closed; }));
  }

 private:
  testkit::ManualExecutor executor_{system_clock()};
};

}  // namespace tenure::test
