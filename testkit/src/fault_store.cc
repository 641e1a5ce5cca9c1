// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/testkit/fault_store.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace tenure::testkit {
namespace {

constexpr std::size_t kVerbs = 5;
constexpr std::size_t index(Verb verb) { return static_cast<std::size_t>(verb); }

using Action = std::function<void()>;

// One request between its caller and the store: answered once, by whoever comes first.
struct Held {
  Action forward;                     // a held request: hand it to the store
  Action deliver;                     // a held answer: hand it to the caller
  std::function<void(Error)> refuse;  // give it up
  std::unique_ptr<Executor::Handle> limit;
};

template <class T>
struct Request {
  Completion<T> done;
  bool answered = false;

  void answer(Result<T> result) {
    if (std::exchange(answered, true)) return;
    std::exchange(done, nullptr)(std::move(result));
  }
};

struct Watched {
  std::function<void(Result<ElectionState>)> on_state;
  std::deque<Result<ElectionState>> held;
  std::unique_ptr<Watch> inner;
  bool alive = true;

  void tell(Result<ElectionState> state) {
    if (!alive) return;
    if (!state) alive = false;
    on_state(std::move(state));
  }
};

}  // namespace

struct FaultStore::State : std::enable_shared_from_this<FaultStore::State> {
  State(std::shared_ptr<LeaseStore> store, Executor& loop)
      : inner(std::move(store)), executor(loop) {}

  std::shared_ptr<LeaseStore> inner;
  Executor& executor;
  std::array<std::deque<Fault>, kVerbs> scripted;
  std::array<Fault, kVerbs> standing;
  std::array<std::size_t, kVerbs> counts{};
  std::deque<std::shared_ptr<Held>> requests;
  std::deque<std::shared_ptr<Held>> answers;
  // Carried out, and to be answered at their limit only.
  std::deque<std::shared_ptr<Held>> swallowed;
  std::vector<std::weak_ptr<Watched>> watches;
  bool hold_watches = false;
  bool closed = false;

  Fault take(Verb verb) {
    ++counts.at(index(verb));
    auto& script = scripted.at(index(verb));
    // A closed store answers closed, whatever the network does.
    if (closed) return {};
    if (script.empty()) return standing.at(index(verb));
    Fault fault = std::move(script.front());
    script.pop_front();
    return fault;
  }

  void give_up_at(const std::shared_ptr<Held>& held, std::deque<std::shared_ptr<Held>>& from,
                  Instant limit, Errc code) {
    held->limit =
        executor.at(limit, [weak = weak_from_this(), held_weak = std::weak_ptr(held), &from, code] {
          const auto state = weak.lock();
          const auto late = held_weak.lock();
          if (state == nullptr || late == nullptr) return;
          std::erase(from, late);
          late->refuse(Error{code, "no answer by the request's limit"});
        });
  }

  template <class T, class Ask>
  void pass(Verb verb, Ask request, Completion<T> done,
            void (LeaseStore::*call)(Ask, Completion<T>)) {
    const Fault fault = take(verb);
    const Instant limit = request.limit;
    auto one = std::make_shared<Request<T>>(Request<T>{std::move(done)});
    auto held = std::make_shared<Held>();
    held->refuse = [one](Error error) { one->answer(tl::unexpected(std::move(error))); };
    const auto forward = [store = inner, call, request = std::move(request)](Completion<T> then) {
      ((*store).*call)(request, std::move(then));
    };
    const auto plain = [one](Result<T> result) { one->answer(std::move(result)); };
    switch (fault.kind) {
      case Fault::Kind::none:
        return forward(plain);
      case Fault::Kind::fail:
        return executor.post([held, error = fault.error] { held->refuse(error); });
      case Fault::Kind::lose_answer:
        return forward([held, error = fault.error](const Result<T>&) { held->refuse(error); });
      case Fault::Kind::hold_answer:
        return forward([one, held, weak = weak_from_this()](Result<T> result) {
          const auto state = weak.lock();
          if (state == nullptr) return;
          held->deliver = [one, result = std::move(result)] { one->answer(result); };
          state->answers.push_back(held);
        });
      case Fault::Kind::hold_request:
        held->forward = [forward, plain] { forward(plain); };
        requests.push_back(held);
        return give_up_at(held, requests, limit, Errc::unavailable);
      case Fault::Kind::swallow_answer:
        swallowed.push_back(held);
        give_up_at(held, swallowed, limit, Errc::outcome_unknown);
        return forward([](const Result<T>&) {});
      case Fault::Kind::black_hole:
        return;
    }
  }

  void refuse_held(const Error& error) {
    for (auto* queue : {&requests, &answers, &swallowed}) {
      for (const auto& held : std::exchange(*queue, {})) {
        held->limit.reset();
        executor.post([held, error] { held->refuse(error); });
      }
    }
  }

  std::vector<std::shared_ptr<Watched>> running_watches() {
    std::vector<std::shared_ptr<Watched>> running;
    for (const auto& weak : watches) {
      if (auto watched = weak.lock(); watched && watched->alive) running.push_back(watched);
    }
    watches.assign(running.begin(), running.end());
    return running;
  }
};

namespace {

class WatchHandle final : public Watch {
 public:
  explicit WatchHandle(std::shared_ptr<Watched> watched) : watched_(std::move(watched)) {}
  ~WatchHandle() override {
    watched_->alive = false;
    watched_->inner.reset();
  }
  WatchHandle(const WatchHandle&) = delete;
  WatchHandle& operator=(const WatchHandle&) = delete;

 private:
  std::shared_ptr<Watched> watched_;
};

}  // namespace

Fault fail_with(Error error) { return {Fault::Kind::fail, std::move(error)}; }

Fault lose_answer() {
  return {Fault::Kind::lose_answer, {Errc::outcome_unknown, "the answer was lost"}};
}

Fault fault(Fault::Kind kind) { return {kind, {Errc::unavailable, "a scripted fault"}}; }

FaultStore::FaultStore(std::shared_ptr<LeaseStore> inner, Executor& executor)
    : state_(std::make_shared<State>(std::move(inner), executor)) {}

FaultStore::~FaultStore() = default;

void FaultStore::next(Verb verb, Fault fault, std::size_t times) {
  auto& script = state_->scripted.at(index(verb));
  script.insert(script.end(), times, fault);
}

void FaultStore::always(Verb verb, Fault fault) {
  state_->standing.at(index(verb)) = std::move(fault);
}

void FaultStore::always(Fault fault) { state_->standing.fill(fault); }

void FaultStore::clear(Verb verb) {
  state_->scripted.at(index(verb)).clear();
  state_->standing.at(index(verb)) = {};
}

void FaultStore::clear() {
  for (auto& script : state_->scripted) script.clear();
  state_->standing.fill({});
}

void FaultStore::deliver_requests() {
  for (const auto& held : std::exchange(state_->requests, {})) {
    held->limit.reset();
    held->forward();
  }
}

void FaultStore::deliver_answers() {
  for (const auto& held : std::exchange(state_->answers, {})) {
    state_->executor.post([held] { held->deliver(); });
  }
}

std::size_t FaultStore::held_requests() const noexcept { return state_->requests.size(); }
std::size_t FaultStore::held_answers() const noexcept { return state_->answers.size(); }

void FaultStore::cut_watches(Error error) {
  for (const auto& watched : state_->running_watches()) {
    watched->inner.reset();
    watched->held.clear();
    state_->executor.post([watched, error] { watched->tell(tl::unexpected(error)); });
  }
}

void FaultStore::hold_watches(bool hold) {
  state_->hold_watches = hold;
  if (hold) return;
  for (const auto& watched : state_->running_watches()) {
    state_->executor.post([watched] {
      // What comes meanwhile lines up behind: nothing overtakes.
      while (watched->alive && !watched->held.empty()) {
        auto state = std::move(watched->held.front());
        watched->held.pop_front();
        watched->tell(std::move(state));
      }
    });
  }
}

std::size_t FaultStore::requests(Verb verb) const noexcept { return state_->counts[index(verb)]; }

const StoreTraits& FaultStore::traits() const noexcept { return state_->inner->traits(); }

void FaultStore::acquire(AcquireRequest request, Completion<AcquireReply> done) {
  state_->pass(Verb::acquire, std::move(request), std::move(done), &LeaseStore::acquire);
}

void FaultStore::renew(RenewRequest request, Completion<RenewReply> done) {
  state_->pass(Verb::renew, std::move(request), std::move(done), &LeaseStore::renew);
}

void FaultStore::release(ReleaseRequest request, Completion<ReleaseReply> done) {
  state_->pass(Verb::release, std::move(request), std::move(done), &LeaseStore::release);
}

void FaultStore::list(ListRequest request, Completion<std::vector<ElectionState>> done) {
  state_->pass(Verb::list, std::move(request), std::move(done), &LeaseStore::list);
}

std::unique_ptr<Watch> FaultStore::watch(WatchRequest request,
                                         std::function<void(Result<ElectionState>)> on_state) {
  const Fault fault = state_->take(Verb::watch);
  auto watched = std::make_shared<Watched>();
  watched->on_state = std::move(on_state);
  state_->watches.push_back(watched);
  if (fault.kind == Fault::Kind::fail || fault.kind == Fault::Kind::lose_answer) {
    state_->executor.post([watched, error = fault.error] { watched->tell(tl::unexpected(error)); });
  } else if (fault.kind == Fault::Kind::none) {
    watched->inner = state_->inner->watch(
        std::move(request),
        [weak = std::weak_ptr(watched), state = std::weak_ptr(state_)](Result<ElectionState> told) {
          const auto target = weak.lock();
          if (target == nullptr) return;
          const auto owner = state.lock();
          if (owner != nullptr && (owner->hold_watches || !target->held.empty())) {
            target->held.push_back(std::move(told));
          } else {
            target->tell(std::move(told));
          }
        });
  }
  // Every other fault: a watch that is accepted and says nothing, until cut_watches() or close().
  return std::make_unique<WatchHandle>(std::move(watched));
}

void FaultStore::close(std::function<void()> done) {
  state_->closed = true;
  const Error error{Errc::closed, "the store is closed"};
  state_->refuse_held(error);
  hold_watches(false);
  for (const auto& watched : state_->running_watches()) {
    // Those that never reached the store must hear of the end from here.
    if (watched->inner != nullptr) continue;
    state_->executor.post([watched, error] { watched->tell(tl::unexpected(error)); });
  }
  state_->inner->close(std::move(done));
}

int FaultStore::inherited_fd() const noexcept { return state_->inner->inherited_fd(); }

}  // namespace tenure::testkit
