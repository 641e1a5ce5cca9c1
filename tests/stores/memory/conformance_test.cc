// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/memory_store.h>
#include <tenure/testkit/fault_store.h>
#include <tenure/testkit/store_conformance.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenure::testkit {
namespace {

class MemoryWorld : public ManualWorld {
 public:
  explicit MemoryWorld(MemoryOptions options) : backend_(MemoryBackend::make(clock_, options)) {}

  [[nodiscard]] std::shared_ptr<LeaseStore> open() override {
    return make_memory_store(backend_, executor_);
  }

  bool force_delete(const std::string& election) override {
    return backend_->force_delete(election);
  }

  bool force_takeover(const std::string& election) override {
    (void)backend_->force_takeover(election, "usurper", "usurper", ttl());
    return true;
  }

 private:
  std::shared_ptr<MemoryBackend> backend_;
};

// Every client reaches the memory store through a FaultStore, which must change nothing unless told
// so, and makes the faults that memory cannot have.
class FaultyWorld final : public MemoryWorld {
 public:
  using MemoryWorld::MemoryWorld;

  [[nodiscard]] std::shared_ptr<LeaseStore> open() override {
    stores_.push_back(std::make_shared<FaultStore>(MemoryWorld::open(), executor_));
    return stores_.back();
  }

  void kill(std::shared_ptr<LeaseStore> store) override {
    std::erase(stores_, store);
    store.reset();
  }

  bool set_stalled(bool stalled) override {
    for (const auto& store : stores_) {
      store->always(fault(stalled ? Fault::Kind::hold_request : Fault::Kind::none));
      if (!stalled) store->deliver_requests();
    }
    return true;
  }

  bool cut_watches() override {
    for (const auto& store : stores_) store->cut_watches({Errc::unavailable, "cut"});
    return true;
  }

 private:
  std::vector<std::shared_ptr<FaultStore>> stores_;
};

template <class World>
StoreUnderTest memory(std::string name, ExpiryBy expiry, bool has_queue) {
  return {std::move(name), [=] {
            MemoryOptions options;
            options.expiry = expiry;
            options.has_queue = has_queue;
            return std::make_unique<World>(options);
          }};
}

INSTANTIATE_TEST_SUITE_P(
    Memory, StoreConformance,
    testing::Values(memory<MemoryWorld>("plain", ExpiryBy::store, false),
                    memory<MemoryWorld>("queue", ExpiryBy::store, true),
                    memory<MemoryWorld>("observers", ExpiryBy::observers, false),
                    memory<FaultyWorld>("through_faults", ExpiryBy::store, false)),
    store_name);

}  // namespace
}  // namespace tenure::testkit
