// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/clock.h>

#include <algorithm>
#include <ctime>
#include <sys/timerfd.h>
#include <unistd.h>

namespace tenure {
namespace {

constexpr Duration::rep kNanosecondsPerSecond = 1'000'000'000;

Duration read_clock(clockid_t id) noexcept {
  timespec now{};
  // Fails only for an id that the kernel does not know; CLOCK_BOOTTIME is older than C++11.
  ::clock_gettime(id, &now);
  return Duration(now.tv_sec * kNanosecondsPerSecond + now.tv_nsec);
}

class SystemTimer final : public Timer {
 public:
  explicit SystemTimer(int fd) noexcept : fd_(fd) {}
  ~SystemTimer() override { ::close(fd_); }
  SystemTimer(const SystemTimer&) = delete;
  SystemTimer& operator=(const SystemTimer&) = delete;

  [[nodiscard]] int fd() const noexcept override { return fd_; }

  void arm(Instant when) noexcept override {
    itimerspec spec{};
    if (when != kNever) {
      // All zero would disarm; the past is as good as the first nanosecond after boot.
      const auto due = std::max(when.time_since_epoch().count(), Duration::rep{1});
      spec.it_value.tv_sec = due / kNanosecondsPerSecond;
      spec.it_value.tv_nsec = due % kNanosecondsPerSecond;
    }
    // Also clears a firing that was not read.
    ::timerfd_settime(fd_, TFD_TIMER_ABSTIME, &spec, nullptr);
  }

 private:
  int fd_;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const noexcept override {
    return Instant(read_clock(CLOCK_BOOTTIME));
  }
  [[nodiscard]] WallTime wall_now() const noexcept override {
    return WallTime(read_clock(CLOCK_REALTIME));
  }
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override {
    const int fd = ::timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0) return nullptr;
    return std::make_unique<SystemTimer>(fd);
  }
};

}  // namespace

Clock& system_clock() noexcept {
  // Never destroyed: a Leadership may be asked while the process exits.
  static Clock* const clock = new SystemClock;
  return *clock;
}

}  // namespace tenure
