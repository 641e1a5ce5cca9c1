// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/loop.h"

#include "runtime/run_task.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/epoll.h>
#include <unistd.h>
#include <utility>

namespace tenure::runtime {

struct Loop::Watcher {
  Watcher(Loop& loop_in, int fd_in, Task task_in) noexcept
      : loop(loop_in), fd(fd_in), task(std::move(task_in)) {}

  Loop& loop;
  const int fd;
  Task task;
  std::atomic<bool> alive{true};
  bool running = false;
  uv_poll_t poll{};
  // Holds itself from the start to the end of its uv handle.
  std::shared_ptr<Watcher> self{};
};

namespace {

constexpr std::chrono::milliseconds kStartAgain{100};

class WatchHandle final : public Loop::Handle {
 public:
  WatchHandle(std::shared_ptr<Loop> loop, std::shared_ptr<Loop::Watcher> watcher) noexcept
      : loop_(std::move(loop)), watcher_(std::move(watcher)) {}
  ~WatchHandle() override { loop_->cancel(watcher_); }
  WatchHandle(const WatchHandle&) = delete;
  WatchHandle& operator=(const WatchHandle&) = delete;

 private:
  std::shared_ptr<Loop> loop_;
  std::shared_ptr<Loop::Watcher> watcher_;
};

tl::unexpected<Error> cannot_watch(int fd, const std::string& why) {
  return fail(Errc::unavailable, "cannot watch descriptor " + std::to_string(fd) + ": " + why);
}

// Whether the kernel could watch it, without telling the loop's own epoll, which another thread is
// in: the answer must be there before the loop has got round to it.
Result<void> probe(int fd) {
  const int scratch = ::epoll_create1(EPOLL_CLOEXEC);
  if (scratch < 0) return cannot_watch(fd, std::strerror(errno));
  epoll_event event{};
  event.events = EPOLLIN;
  const bool possible = ::epoll_ctl(scratch, EPOLL_CTL_ADD, fd, &event) == 0;
  const int error = errno;
  ::close(scratch);
  if (!possible) return cannot_watch(fd, std::strerror(error));
  return {};
}

}  // namespace

Result<std::unique_ptr<Executor::Handle>> Loop::on_readable(int fd, Task task) {
  if (auto possible = probe(fd); !possible) return tl::unexpected(possible.error());
  auto watcher = std::make_shared<Watcher>(*this, fd, std::move(task));
  {
    const std::lock_guard lock(mutex_);
    if (!accepting_) return fail(Errc::closed, "the runtime has ended");
    if (!watched_.emplace(fd, watcher).second) {
      return cannot_watch(fd, "it is being watched already");
    }
  }
  auto handle = std::make_unique<WatchHandle>(shared_from_this(), watcher);
  if (on_loop()) {
    if (auto started = start(watcher); !started) return tl::unexpected(started.error());
  } else {
    post([this, watcher = std::move(watcher)] { start_late(watcher); });
  }
  return handle;
}

Result<void> Loop::start(const std::shared_ptr<Watcher>& watcher) {
  if (!watcher->alive.load()) return {};
  const int fd = watcher->fd;
  // One that was cancelled from another thread may still be there, for a former file of that
  // number.
  if (const auto former = watchers_.find(fd); former != watchers_.end()) stop(former->second);
  // libuv makes descriptors non-blocking for its own reads; this one is the caller's.
  const int flags = ::fcntl(fd, F_GETFL);
  int error = uv_poll_init(&uv_, &watcher->poll, fd);
  if (flags >= 0 && (flags & O_NONBLOCK) == 0) ::fcntl(fd, F_SETFL, flags);
  if (error != 0) return cannot_watch(fd, uv_strerror(error));
  watcher->poll.data = watcher.get();
  watcher->self = watcher;
  watchers_[fd] = watcher;
  error = uv_poll_start(&watcher->poll, UV_READABLE, [](uv_poll_t* poll, int status, int) {
    auto& ready = *static_cast<Watcher*>(poll->data);
    ready.loop.on_event(ready, status);
  });
  if (error != 0) {
    stop(watcher);
    return cannot_watch(fd, uv_strerror(error));
  }
  started_some_ = true;
  return {};
}

// Nobody is left to be told of a failure but the task: it is called, as for an error that is
// pending on its descriptor, and goes on being called until the watch has begun.
void Loop::start_late(const std::shared_ptr<Watcher>& watcher) {
  if (start(watcher) || ended()) return;
  call(watcher);
  if (!watcher->alive.load()) return;
  const Instant again = saturating_add(clock_.now(), kStartAgain);
  (void)timers_.add(again, [this, weak = std::weak_ptr<Watcher>(watcher)] {
    if (const auto late = weak.lock()) start_late(late);
  });
}

void Loop::call(const std::shared_ptr<Watcher>& watcher) {
  watcher->running = true;
  run_task([&watcher] { watcher->task(); });
  watcher->running = false;
  if (!watcher->alive.load()) watcher->task = nullptr;
}

void Loop::on_event(Watcher& watcher, int status) {
  // libuv stops watching what has an error pending (a socket); the task is to see it each time.
  if (status < 0 && uv_poll_start(&watcher.poll, UV_READABLE, watcher.poll.poll_cb) == 0) {
    started_some_ = true;
  }
  if (budget_ == 0 || !watcher.alive.load() || ended()) return;
  const auto kept = watcher.self;
  --budget_;
  call(kept);
}

void Loop::stop(std::shared_ptr<Watcher> watcher) noexcept {
  const auto here = watchers_.find(watcher->fd);
  if (here != watchers_.end() && here->second == watcher) watchers_.erase(here);
  if (watcher->self == nullptr) return;
  auto* const handle = reinterpret_cast<uv_handle_t*>(&watcher->poll);
  if (uv_is_closing(handle) != 0) return;
  uv_poll_stop(&watcher->poll);
  uv_close(handle, [](uv_handle_t* closed) {
    const auto last = std::move(static_cast<Watcher*>(closed->data)->self);
  });
}

void Loop::stop_all() noexcept {
  decltype(watched_) doomed;
  {
    const std::lock_guard lock(mutex_);
    doomed.swap(watched_);
  }
  for (const auto& [fd, watcher] : doomed) {
    watcher->alive.store(false);
    watcher->task = nullptr;
  }
  while (!watchers_.empty()) stop(watchers_.begin()->second);
}

void Loop::cancel(const std::shared_ptr<Watcher>& watcher) noexcept {
  if (in_forked_child()) return;
  {
    const std::lock_guard lock(mutex_);
    if (watcher->alive.exchange(false)) watched_.erase(watcher->fd);
  }
  if (!on_loop()) return post([this, watcher] { stop(watcher); });
  stop(watcher);
  if (!watcher->running) watcher->task = nullptr;
}

}  // namespace tenure::runtime
