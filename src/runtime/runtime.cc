// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/runtime.h>

#include "runtime/engine.h"
#include "runtime/open_store.h"

#include <string>
#include <utility>

namespace tenure {
namespace {

constexpr std::size_t kMostThreads = 64;

class RuntimeImpl final : public Runtime {
 public:
  explicit RuntimeImpl(std::shared_ptr<runtime::Engine> engine) noexcept
      : engine_(std::move(engine)) {}

  ~RuntimeImpl() override {
    if (engine_->in_forked_child()) {
      // Its threads do not exist here and its descriptors are the parent's: it is left as it is.
      (void)new std::shared_ptr<runtime::Engine>(engine_);
      return;
    }
    engine_->shut_down();
  }

  RuntimeImpl(const RuntimeImpl&) = delete;
  RuntimeImpl& operator=(const RuntimeImpl&) = delete;

  [[nodiscard]] Clock& clock() noexcept override { return engine_->clock(); }
  void post(Task task) override { engine_->post(std::move(task)); }
  void run_blocking(Task task) override { engine_->run_blocking(std::move(task)); }
  [[nodiscard]] std::unique_ptr<Handle> at(Instant when, Task task) override {
    return engine_->at(when, std::move(task));
  }
  [[nodiscard]] Result<std::unique_ptr<Handle>> on_readable(int fd, Task task) override {
    return engine_->on_readable(fd, std::move(task));
  }
  [[nodiscard]] std::uint64_t random() noexcept override { return engine_->random(); }

  [[nodiscard]] Result<std::shared_ptr<LeaseStore>> open_store(std::string_view url,
                                                               StoreOptions options) override {
    return runtime::open_store(engine_, url, options);
  }
  [[nodiscard]] int fd() const noexcept override { return engine_->fd(); }
  std::size_t poll() override {
    // A callback may destroy this runtime.
    const auto engine = engine_;
    return engine->poll();
  }
  void call_back(Task task) override { engine_->call_back(std::move(task)); }
  [[nodiscard]] Threads threads() const noexcept override { return engine_->threads(); }

  [[nodiscard]] const std::shared_ptr<runtime::Engine>& engine() const noexcept { return engine_; }

 private:
  std::shared_ptr<runtime::Engine> engine_;
};

Result<void> check_threads(const char* option, std::size_t value) {
  if (value >= 1 && value <= kMostThreads) return {};
  return fail(Errc::invalid_argument, std::string(option) + " is " + std::to_string(value) +
                                          "; it must be 1 to " + std::to_string(kMostThreads));
}

}  // namespace

Result<std::unique_ptr<Runtime>> Runtime::create(RuntimeOptions options) {
  if (auto ok = check_threads("worker_threads", options.worker_threads); !ok) {
    return tl::unexpected(ok.error());
  }
  if (auto ok = check_threads("callback_threads", options.callback_threads); !ok) {
    return tl::unexpected(ok.error());
  }
  auto engine = runtime::Engine::create(options);
  if (!engine) return tl::unexpected(engine.error());
  return std::make_unique<RuntimeImpl>(std::move(*engine));
}

namespace runtime {

std::shared_ptr<Engine> engine_of(Runtime& runtime) noexcept {
  // There is no other kind of Runtime: its constructor is reached through create() alone.
  return static_cast<RuntimeImpl&>(runtime).engine();
}

}  // namespace runtime
}  // namespace tenure
