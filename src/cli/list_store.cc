// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/list_store.h"

#include <chrono>
#include <future>
#include <utility>

namespace tenure::cli {

Result<std::vector<ElectionState>> list_store(Runtime& runtime, std::shared_ptr<LeaseStore> store,
                                              const std::string& election, Duration timeout) {
  using States = Result<std::vector<ElectionState>>;
  auto promise = std::make_shared<std::promise<States>>();
  std::future<States> answer = promise->get_future();
  const ListRequest request{election, saturating_add(runtime.clock().now(), timeout)};
  runtime.post([store = std::move(store), request, promise] {
    store->list(request, [promise](States states) { promise->set_value(std::move(states)); });
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

}  // namespace tenure::cli
