// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/list_store.h"

#include <chrono>
#include <future>
#include <utility>

namespace tenure::cli {

namespace {

// `ask(done)` puts the request, on the loop; done takes the Result<Answer>.
template <typename Answer, typename Ask>
Result<Answer> answer_of(Runtime& runtime, Ask ask, Duration timeout) {
  auto promise = std::make_shared<std::promise<Result<Answer>>>();
  std::future<Result<Answer>> answer = promise->get_future();
  runtime.post([ask = std::move(ask), promise] {
    ask([promise](Result<Answer> result) { promise->set_value(std::move(result)); });
  });
  // A store keeps its limit by contract; a little more, so that its own words are heard. Days are
  // the most that wait_for() can be trusted with.
  const Duration patience =
      std::min<Duration>(saturating_add(timeout, std::chrono::seconds(1)), std::chrono::hours(240));
  if (answer.wait_for(patience) != std::future_status::ready) {
    return fail(Errc::timed_out, "the store did not answer in time");
  }
  return answer.get();
}

}  // namespace

Result<std::vector<ElectionState>> list_store(Runtime& runtime, std::shared_ptr<LeaseStore> store,
                                              const std::string& election, Duration timeout) {
  const ListRequest request{election, saturating_add(runtime.clock().now(), timeout)};
  return answer_of<std::vector<ElectionState>>(
      runtime,
      [store = std::move(store), request](auto done) { store->list(request, std::move(done)); },
      timeout);
}

Result<void> try_to_write(Runtime& runtime, std::shared_ptr<LeaseStore> store, Duration timeout) {
  const ReleaseRequest nothing{"tenure doctor", "tenure doctor", 0,
                               saturating_add(runtime.clock().now(), timeout)};
  const auto reply = answer_of<ReleaseReply>(
      runtime,
      [store = std::move(store), nothing](auto done) { store->release(nothing, std::move(done)); },
      timeout);
  if (!reply) return tl::unexpected(reply.error());
  return {};
}

}  // namespace tenure::cli
