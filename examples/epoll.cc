// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0

/// An election in an event loop of your own: no thread is started, and epoll says when the runtime
/// has something to do. Leads, writes five rows, gives the election back, ends.
/// Usage: epoll [STORE-URL]
#include <tenure/election.h>
#include <tenure/runtime.h>

#include <sys/epoll.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

namespace {

using namespace std::chrono_literals;

/// The program's own loop: calls what belongs to each descriptor that is readable.
class EventLoop {
 public:
  EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~EventLoop() { ::close(epoll_); }
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  bool watch(int fd, std::function<void()> on_readable) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    handlers_[fd] = std::move(on_readable);
    return ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
  }
  void run_once() {
    epoll_event event{};
    if (::epoll_wait(epoll_, &event, 1, -1) == 1) handlers_[event.data.fd]();
  }

 private:
  int epoll_;
  std::map<int, std::function<void()>> handlers_;
};

/// The work of a term. Everything happens on the one thread, inside poll() or in the loop.
class Rows {
 public:
  void begin(tenure::Leadership term, tenure::TermEnd end) {
    term_ = std::move(term);
    end_ = std::move(end);
    // Nothing goes on between two ticks, so that this work ends as soon as it is told to.
    told_to_stop_.emplace(term_.stop_token(), [this] { end_.done(); });
  }
  void write_next() {
    if (!term_.held()) return;
    ++written_;
    std::printf("row %d, with token %llu\n", written_,
                static_cast<unsigned long long>(term_.token()));
  }
  [[nodiscard]] int written() const { return written_; }

 private:
  tenure::Leadership term_;
  tenure::TermEnd end_;
  std::optional<std::stop_callback<std::function<void()>>> told_to_stop_;
  int written_ = 0;
};

/// Prints what has happened; false once the election has ended.
bool print_events(tenure::Election& election) {
  while (const auto event = election.next_event()) {
    if (std::holds_alternative<tenure::Elected>(event->body)) std::puts("elected");
    if (const auto* lost = std::get_if<tenure::Lost>(&event->body)) {
      std::printf("lost: %s\n", std::string(to_string(lost->reason)).c_str());
    }
    if (std::holds_alternative<tenure::Stopped>(event->body)) return false;
  }
  return true;
}

int complain(const tenure::Error& error) {
  std::fprintf(stderr, "epoll: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  auto runtime = tenure::Runtime::create({.threads = tenure::Threads::caller});
  if (!runtime) return complain(runtime.error());
  auto store = (*runtime)->open_store(argc > 1 ? argv[1] : "memory:epoll");
  if (!store) return complain(store.error());
  auto election = tenure::Election::create(**runtime, *store, {.name = "rows", .ttl = 3s});
  if (!election) return complain(election.error());

  Rows rows;
  auto set = election->on_term([&rows](tenure::Leadership term, tenure::TermEnd end) {
    rows.begin(std::move(term), std::move(end));
  });
  if (!set) return complain(set.error());
  if (auto started = election->start(); !started) return complain(started.error());

  EventLoop loop;
  bool running = true;
  const auto tick = tenure::system_clock().make_timer();
  const auto arm = [&tick] { tick->arm(tenure::system_clock().now() + 10ms); };
  if (!tick || !loop.watch((*runtime)->fd(), [&] { (*runtime)->poll(); }) ||
      !loop.watch(election->event_fd(), [&] { running = print_events(*election); }) ||
      !loop.watch(tick->fd(), [&] {
        rows.write_next();
        // stop() drives the runtime until all has ended, or a second has passed.
        if (rows.written() == 5) (void)election->stop(1s);
        arm();
      })) {
    std::perror("epoll");
    return 1;
  }
  arm();
  while (running) loop.run_once();
  return rows.written() >= 5 ? 0 : 1;
}
