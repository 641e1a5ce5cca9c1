// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/conformance_answers.h>
#include <tenure/testkit/store_world.h>

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tenure::testkit {

/// One instantiation of the suite: a name for the test's own name (letters, digits, _), and how to
/// make a world with an empty backend.
struct StoreUnderTest {
  std::string name;
  std::function<std::unique_ptr<StoreWorld>()> make_world;

  friend void PrintTo(const StoreUnderTest& store, std::ostream* out) { *out << store.name; }
};

/// Names the instantiated tests: the last argument of INSTANTIATE_TEST_SUITE_P.
inline std::string store_name(const testing::TestParamInfo<StoreUnderTest>& info) {
  return info.param.name;
}

/// The suite: instantiate it once for each way to set up a store.
///
///     INSTANTIATE_TEST_SUITE_P(Mine, StoreConformance,
///                              testing::Values(StoreUnderTest{"plain", make_my_world}),
///                              store_name);
class StoreConformance : public testing::TestWithParam<StoreUnderTest> {
 protected:
  using StorePtr = std::shared_ptr<LeaseStore>;
  template <class T>
  using Pending = conformance::Pending<T>;
  using Watching = std::shared_ptr<conformance::Seen>;

  void SetUp() override { world_ = GetParam().make_world(); }

  /// Every request must have been answered by the time its store is closed.
  void TearDown() override {
    for (const auto& watching : watches_) {
      world_->on_loop([&] { watching->watch.reset(); });
    }
    for (StorePtr& store : stores_) {
      close(store);
      world_->on_loop([&] { store.reset(); });
    }
    for (const auto& answered : checks_) {
      EXPECT_TRUE(world_->pump(answered, world_->patience())) << "a request was never answered";
    }
    world_.reset();
  }

  [[nodiscard]] Instant now() { return world_->executor().clock().now(); }
  void pass_until(Instant when) {
    const Duration left = saturating_between(now(), when);
    if (left > Duration::zero()) world_->pass(left);
  }
  [[nodiscard]] Duration ttl() const { return world_->ttl(); }
  [[nodiscard]] bool pump(const std::function<bool()>& condition) {
    return world_->pump(condition, world_->patience());
  }

  [[nodiscard]] StorePtr open() {
    StorePtr store;
    world_->on_loop([&] { store = world_->open(); });
    stores_.push_back(store);
    return store;
  }

  void kill(StorePtr& store) {
    std::erase(stores_, store);
    world_->on_loop([&] { world_->kill(std::move(store)); });
    store.reset();
  }

  void close(const StorePtr& store) {
    auto done = std::make_shared<conformance::Answer<bool>>();
    begin_close(store, done);
    EXPECT_TRUE(pump([&] { return done->here(); })) << "close() was never done";
  }

  void begin_close(const StorePtr& store, const Pending<bool>& done) {
    world_->on_loop([&] {
      done->begin();
      store->close([done] { done->take(true); });
      done->end();
    });
  }

  /// Makes a request and does not wait.
  template <class T, class Request>
  [[nodiscard]] Pending<T> begin(const StorePtr& store,
                                 void (LeaseStore::*verb)(Request, Completion<T>),
                                 Request request) {
    auto answer = std::make_shared<conformance::Answer<T>>();
    checks_.push_back([answer] { return answer->here(); });
    world_->on_loop([&] {
      answer->begin();
      ((*store).*verb)(std::move(request),
                       [answer](Result<T> result) { answer->take(std::move(result)); });
      answer->end();
    });
    return answer;
  }

  template <class T>
  [[nodiscard]] Result<T> wait(const Pending<T>& answer) {
    EXPECT_TRUE(pump([&] { return answer->here(); })) << "a request was not answered";
    return answer->result();
  }

  [[nodiscard]] AcquireRequest asking(const std::string& session,
                                      const std::string& election = "e") const {
    AcquireRequest request;
    request.election = election;
    request.id = "id of " + session;
    request.session = session;
    request.ttl = ttl();
    return request;
  }
  [[nodiscard]] Pending<AcquireReply> begin_acquire(const StorePtr& store, AcquireRequest request) {
    return begin(store, &LeaseStore::acquire, std::move(request));
  }
  [[nodiscard]] Result<AcquireReply> acquire(const StorePtr& store, AcquireRequest request) {
    return wait(begin_acquire(store, std::move(request)));
  }
  /// Acquires what must be free.
  [[nodiscard]] Record hold(const StorePtr& store, const std::string& session,
                            const std::string& election = "e") {
    const auto reply = acquire(store, asking(session, election));
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_TRUE(reply.has_value() && reply->ours) << session << " did not get " << election;
    return reply && reply->record ? *reply->record : Record{};
  }
  /// Whether `session` would get the election now; leaves it with the holder, and nobody in line.
  [[nodiscard]] bool refused(const StorePtr& store, const std::string& session) {
    const auto reply = acquire(store, asking(session));
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    if (!reply || reply->ours) return false;
    if (store->traits().has_queue) (void)release(store, "e", session, 0);
    return true;
  }
  [[nodiscard]] Result<RenewReply> renew(const StorePtr& store, const Record& record,
                                         Duration wanted) {
    return wait(begin(store, &LeaseStore::renew, RenewRequest{record, wanted, kNever}));
  }
  [[nodiscard]] Result<ReleaseReply> release(const StorePtr& store, const std::string& election,
                                             const std::string& session, std::uint64_t revision) {
    return wait(
        begin(store, &LeaseStore::release, ReleaseRequest{election, session, revision, kNever}));
  }
  [[nodiscard]] bool released(const StorePtr& store, const Record& record) {
    const auto reply = release(store, record.election, record.session, record.revision);
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply && reply->released;
  }
  [[nodiscard]] std::vector<ElectionState> list(const StorePtr& store,
                                                const std::string& election = {}) {
    auto reply = wait(begin(store, &LeaseStore::list, ListRequest{election, kNever}));
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply ? std::move(*reply) : std::vector<ElectionState>{};
  }
  /// The holder that list() shows.
  [[nodiscard]] std::optional<Record> holder(const StorePtr& store,
                                             const std::string& election = "e") {
    for (const ElectionState& state : list(store, election)) {
      if (state.election == election) return state.holder;
    }
    return std::nullopt;
  }

  /// Whether `store` shows this record as that session's.
  [[nodiscard]] static bool is_of(const StorePtr& store, const std::optional<Record>& record,
                                  const std::string& session) {
    return record && conformance::is_of(*record, session, store->traits().private_sessions);
  }

  [[nodiscard]] Watching watch(const StorePtr& store, const std::string& election = "e",
                               const std::string& session = {}) {
    auto seen = std::make_shared<conformance::Seen>();
    watches_.push_back(seen);
    world_->on_loop([&] {
      seen->within_call = true;
      seen->by_id = store->traits().private_sessions;
      seen->watch = store->watch({election, session},
                                 [weak = std::weak_ptr(seen)](const Result<ElectionState>& state) {
                                   if (const auto alive = weak.lock()) alive->take(state);
                                 });
      seen->within_call = false;
    });
    return seen;
  }
  [[nodiscard]] bool soon_shows(const Watching& watching, const std::string& session) {
    return pump([&] { return watching->shows(session); });
  }

  std::unique_ptr<StoreWorld> world_;

 private:
  std::vector<StorePtr> stores_;
  std::vector<Watching> watches_;
  std::vector<std::function<bool()>> checks_;
};

}  // namespace tenure::testkit
