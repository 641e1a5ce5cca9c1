// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/memory_store.h>
#include <tenure/testkit/store_conformance.h>

#include <memory>
#include <string>

namespace tenure::testkit {
namespace {

class MemoryWorld final : public ManualWorld {
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

StoreUnderTest memory(std::string name, ExpiryBy expiry, bool has_queue) {
  return {std::move(name), [=] {
            MemoryOptions options;
            options.expiry = expiry;
            options.has_queue = has_queue;
            return std::make_unique<MemoryWorld>(options);
          }};
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance,
                         testing::Values(memory("plain", ExpiryBy::store, false),
                                         memory("queue", ExpiryBy::store, true),
                                         memory("observers", ExpiryBy::observers, false)),
                         store_name);

}  // namespace
}  // namespace tenure::testkit
