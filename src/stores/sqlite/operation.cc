// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/operation.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tenure::sqlite {
namespace {

using States = std::vector<ElectionState>;

Result<AcquireReply> carry(Ledger& ledger, const AcquireRequest& request, Instant sent_at) {
  return ledger.acquire(request, sent_at);
}

Result<RenewReply> carry(Ledger& ledger, const RenewRequest& request, Instant sent_at) {
  return ledger.renew(request, sent_at);
}

Result<ReleaseReply> carry(Ledger& ledger, const ReleaseRequest& request, Instant /*sent_at*/) {
  return ledger.release(request);
}

Result<States> carry(Ledger& ledger, const ListRequest& request, Instant /*sent_at*/) {
  return ledger.list(request.election);
}

template <class Request, class Reply>
class Verb final : public Operation {
 public:
  Verb(Effect effect, Request request, Completion<Reply> done)
      : Operation(effect, request.limit), request_(std::move(request)), done_(std::move(done)) {}

  Result<bool> answer_by_reading(Ledger& ledger) override {
    if constexpr (std::is_same_v<Request, AcquireRequest>) {
      auto reply = ledger.refuse(request_);
      if (!reply) return tl::unexpected<Error>(std::move(reply.error()));
      if (reply->has_value()) result_ = std::move(**reply);
      return reply->has_value();
    } else {
      return false;
    }
  }

  Result<void> carry_out(Ledger& ledger, Instant sent_at) override {
    result_ = carry(ledger, request_, sent_at);
    if (!result_) return tl::unexpected<Error>(result_.error());
    return {};
  }

  void set_error(const Error& error) override { result_ = tl::unexpected<Error>(error); }

  void set_nothing() override { result_ = Reply(); }

  void answer() override {
    if (auto done = std::exchange(done_, nullptr)) done(std::move(result_));
  }

 private:
  void answer_with(Error error) override {
    if (auto done = std::exchange(done_, nullptr)) done(tl::unexpected<Error>(std::move(error)));
  }

  Request request_;
  Completion<Reply> done_;
  Result<Reply> result_ = fail(Errc::unavailable, "the request was not carried out");
};

bool only_reads(const std::shared_ptr<Operation>& operation) {
  return operation->effect() == Effect::none;
}

}  // namespace

bool Operation::start() noexcept {
  State expected = State::waiting;
  return state_.compare_exchange_strong(expected, State::started);
}

void Operation::give_up(const Error& error) {
  const State before = state_.exchange(State::given_up);
  if (before == State::started && effect_ != Effect::none) {
    answer_with(Error{Errc::outcome_unknown,
                      "the database did not answer in time; the request may have taken effect"});
  } else {
    answer_with(error);
  }
}

void Operation::cancel(const Error& error) {
  State expected = State::waiting;
  if (state_.compare_exchange_strong(expected, State::given_up)) answer_with(error);
}

bool OperationQueue::push(std::shared_ptr<Operation> operation) {
  const std::lock_guard guard(mutex_);
  waiting_.push_back(std::move(operation));
  return !std::exchange(is_served_, true);
}

OperationQueue::Batch OperationQueue::take() {
  const std::lock_guard guard(mutex_);
  std::erase_if(waiting_, [](const auto& operation) { return operation->is_given_up(); });
  Batch batch;
  if (std::exchange(has_put_back_, false)) {
    // Writes that cannot go on yet must not keep reads waiting.
    const auto reads = std::stable_partition(waiting_.begin(), waiting_.end(),
                                             [](const auto& each) { return !only_reads(each); });
    batch.assign(reads, waiting_.end());
    waiting_.erase(reads, waiting_.end());
  }
  while (!waiting_.empty()) {
    if (!batch.empty() && only_reads(waiting_.front()) != only_reads(batch.front())) break;
    batch.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  if (batch.empty()) is_served_ = false;
  return batch;
}

void OperationQueue::put_back(const Batch& operations) {
  const std::lock_guard guard(mutex_);
  waiting_.insert(waiting_.begin(), operations.begin(), operations.end());
  has_put_back_ = !operations.empty();
}

std::shared_ptr<Operation> make_operation(AcquireRequest request, Completion<AcquireReply> done) {
  return std::make_shared<Verb<AcquireRequest, AcquireReply>>(Effect::granting, std::move(request),
                                                              std::move(done));
}

std::shared_ptr<Operation> make_operation(RenewRequest request, Completion<RenewReply> done) {
  return std::make_shared<Verb<RenewRequest, RenewReply>>(Effect::fleeting, std::move(request),
                                                          std::move(done));
}

std::shared_ptr<Operation> make_operation(ReleaseRequest request, Completion<ReleaseReply> done) {
  return std::make_shared<Verb<ReleaseRequest, ReleaseReply>>(Effect::durable, std::move(request),
                                                              std::move(done));
}

std::shared_ptr<Operation> make_operation(ListRequest request, Completion<States> done) {
  return std::make_shared<Verb<ListRequest, States>>(Effect::none, std::move(request),
                                                     std::move(done));
}

}  // namespace tenure::sqlite
