// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/memory_store.h>

#include "stores/memory/backend.h"
#include "stores/memory/watcher.h"

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenure {
namespace memory {
namespace {

template <class T>
void answer(Executor& executor, Completion<T> done, Result<T> result) {
  executor.post([done = std::move(done), result = std::move(result)] { done(result); });
}

class Store final : public LeaseStore {
 public:
  Store(std::shared_ptr<Backend> backend, Executor& executor)
      : executor_(executor), backend_(std::move(backend)) {
    traits_.kind = "memory";
    traits_.expiry = backend_->options().expiry;
    traits_.has_queue = backend_->options().has_queue;
    traits_.min_ttl = backend_->options().min_ttl;
    hub_ = std::make_shared<WatchHub>(backend_, executor_);
    hub_->join();
  }

  ~Store() override { leave(); }

  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  [[nodiscard]] const StoreTraits& traits() const noexcept override { return traits_; }

  void acquire(AcquireRequest request, Completion<AcquireReply> done) override {
    auto checked = check_names({{"the election name", request.election},
                                {"the candidate's id", request.id},
                                {"the session", request.session}});
    if (checked) checked = check_ttl(request.ttl);
    if (checked) checked = check_open(request.limit);
    if (!checked) return answer<AcquireReply>(executor_, std::move(done), refused(checked));
    const Instant sent_at = executor_.clock().now();
    AcquireReply reply = backend_->acquire(request, hub_->client());
    if (reply.ours) reply.sent_at = sent_at;
    localize(reply.record);
    answer<AcquireReply>(executor_, std::move(done), std::move(reply));
  }

  void renew(RenewRequest request, Completion<RenewReply> done) override {
    auto checked = check_names({{"the election name", request.record.election}});
    if (checked) checked = check_ttl(request.ttl);
    if (checked) checked = check_open(request.limit);
    if (!checked) return answer<RenewReply>(executor_, std::move(done), refused(checked));
    const Instant sent_at = executor_.clock().now();
    RenewReply reply = backend_->renew(request);
    if (reply.held) reply.sent_at = sent_at;
    localize(reply.holder);
    answer<RenewReply>(executor_, std::move(done), std::move(reply));
  }

  void release(ReleaseRequest request, Completion<ReleaseReply> done) override {
    auto checked =
        check_names({{"the election name", request.election}, {"the session", request.session}});
    if (checked) checked = check_open(request.limit);
    if (!checked) return answer<ReleaseReply>(executor_, std::move(done), refused(checked));
    answer<ReleaseReply>(executor_, std::move(done), backend_->release(request));
  }

  [[nodiscard]] std::unique_ptr<Watch> watch(
      WatchRequest request, std::function<void(Result<ElectionState>)> on_state) override {
    Result<void> checked;
    if (!request.election.empty()) {
      checked = check_names({{"the election name", request.election}});
    }
    if (checked) checked = check_open(kNever);
    std::optional<Error> refusal;
    if (!checked) refusal = checked.error();
    return hub_->watch(std::move(request), std::move(on_state), std::move(refusal));
  }

  void list(ListRequest request, Completion<std::vector<ElectionState>> done) override {
    using States = std::vector<ElectionState>;
    Result<void> checked;
    if (!request.election.empty()) {
      checked = check_names({{"the election name", request.election}});
    }
    if (checked) checked = check_open(request.limit);
    if (!checked) return answer<States>(executor_, std::move(done), refused(checked));
    States states = backend_->elections();
    if (!request.election.empty()) {
      std::erase_if(states, [&](const auto& state) { return state.election != request.election; });
    }
    for (ElectionState& state : states) localize(state.holder);
    answer<States>(executor_, std::move(done), std::move(states));
  }

  void close(std::function<void()> done) override {
    closed_ = true;
    leave();
    executor_.post(std::move(done));
  }

 private:
  struct NameToCheck {
    std::string_view what;
    std::string_view value;
  };

  void leave() {
    hub_->end_all(Error{Errc::closed, "the memory store is closed"});
    hub_->leave();
  }

  static tl::unexpected<Error> refused(const Result<void>& checked) {
    return tl::unexpected(checked.error());
  }

  static Result<void> check_names(std::initializer_list<NameToCheck> names) {
    for (const auto& [what, value] : names) {
      if (auto checked = check_name(what, value); !checked) return checked;
    }
    return {};
  }

  [[nodiscard]] Result<void> check_ttl(Duration ttl) const {
    if (ttl >= traits_.min_ttl) return {};
    const auto ms = [](Duration d) {
      return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
    };
    return fail(Errc::invalid_argument, "a ttl of " + ms(ttl) +
                                            "ms is too short; this store takes " +
                                            ms(traits_.min_ttl) + "ms or more");
  }

  [[nodiscard]] Result<void> check_open(Instant limit) const {
    if (closed_) return fail(Errc::closed, "the memory store is closed");
    if (limit > executor_.clock().now()) return {};
    return fail(Errc::unavailable, "the request's limit had passed before it was sent");
  }

  void localize(std::optional<Record>& record) const {
    if (record) hub_->localize(*record);
  }

  Executor& executor_;
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<WatchHub> hub_;
  StoreTraits traits_;
  bool closed_ = false;
};

}  // namespace
}  // namespace memory

std::shared_ptr<LeaseStore> make_memory_store(std::shared_ptr<MemoryBackend> backend,
                                              Executor& executor) {
  // There is no other class of backend: both ways to make one are in backend.cc.
  return std::make_shared<memory::Store>(
      std::static_pointer_cast<memory::Backend>(std::move(backend)), executor);
}

Result<std::shared_ptr<LeaseStore>> open_memory_store(std::string_view url, Executor& executor) {
  constexpr std::string_view kScheme = "memory:";
  if (!url.starts_with(kScheme)) {
    return fail(Errc::invalid_argument, "not a memory store's URL; memory:NAME is accepted");
  }
  auto backend = MemoryBackend::named(url.substr(kScheme.size()), executor.clock());
  if (!backend) return tl::unexpected(std::move(backend.error()));
  return make_memory_store(std::move(*backend), executor);
}

}  // namespace tenure
