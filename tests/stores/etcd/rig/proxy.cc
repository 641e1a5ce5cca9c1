// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/etcd/rig/proxy.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tests/stores/etcd/rig/error.h"
#include "tests/stores/etcd/rig/proxy_stream.h"
#include "tests/stores/etcd/rig/socket.h"

namespace tenure::test {
namespace {

using std::chrono::milliseconds;

}  // namespace

// One lock is held by the thread while it works, and not while it polls.
class TcpProxy::Impl {
 public:
  Impl(std::string target, const Port& port, Group group)
      : target_(std::move(target)),
        address_(port.address()),
        number_(port.number()),
        group_(std::move(group)),
        listener_(listen_on(address_, number_)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (listener_ < 0) throw RigError("cannot listen on " + port.endpoint());
    thread_ = std::thread([this] { run(); });
  }

  ~Impl() {
    change([this] { ending_ = true; });
    thread_.join();
    if (listener_ >= 0) ::close(listener_);
    ::close(wake_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // What a caller changes; the thread then looks at everything anew.
  void change(const std::function<void()>& how) {
    {
      const std::lock_guard lock(mutex_);
      how();
      for (Stream& stream : streams_) stream.set(link_of(stream.group()));
      drop_ended();
    }
    (void)::eventfd_write(wake_, 1);
  }

  void set(Link link) {
    change([&] { link_ = link; });
  }
  void set_group(int group, Link link) {
    change([&] { group_links_[group] = link; });
  }
  void heal() {
    change([&] {
      link_ = {};
      group_links_.clear();
      period_ = Duration::zero();
      listen(true);
    });
  }
  void cut() {
    change([&] { cut_all(); });
  }
  void cut_every(Duration period) {
    change([&] {
      period_ = period;
      next_cut_ = saturating_add(rig_now(), period);
    });
  }
  void refuse(bool refuse) {
    change([&] { listen(!refuse); });
  }
  void retarget(std::string target) {
    change([&] { target_ = std::move(target); });
  }

  Counters counters() {
    const std::lock_guard lock(mutex_);
    Counters sum = ended_;
    for (const Stream& stream : streams_) add(sum, stream);
    sum.open = streams_.size();
    return sum;
  }

 private:
  Link link_of(int group) const {
    const auto own = group_links_.find(group);
    return own == group_links_.end() ? link_ : own->second;
  }

  static void add(Counters& sum, const Stream& stream) {
    sum.to_server += stream.to_server().passed();
    sum.to_client += stream.to_client().passed();
    sum.swallowed += stream.to_server().swallowed() + stream.to_client().swallowed();
  }

  void cut_all() {
    for (Stream& stream : streams_) stream.reset();
  }

  void drop_ended() {
    for (const Stream& stream : streams_) {
      if (stream.ended()) add(ended_, stream);
    }
    streams_.remove_if([](const Stream& stream) { return stream.ended(); });
  }

  void listen(bool wanted) {
    if (wanted == (listener_ >= 0)) return;
    if (!wanted) {
      ::close(std::exchange(listener_, -1));
      return;
    }
    listener_ = listen_on(address_, number_);
    if (listener_ < 0) throw RigError("cannot listen again on port " + std::to_string(number_));
  }

  void accept_all() {
    while (listener_ >= 0) {
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0) return;
      ++ended_.accepted;
      const int group = group_ ? group_(peer_port(client)) : 0;
      streams_.emplace_back(client, begin_connect(target_), group);
      streams_.back().set(link_of(group));
    }
  }

  void work(Instant now) {
    if (period_ > Duration::zero() && now >= next_cut_) {
      cut_all();
      next_cut_ = saturating_add(now, period_);
    }
    accept_all();
    for (Stream& stream : streams_) stream.move(now);
    drop_ended();
  }

  void run() {
    std::vector<pollfd> wanted;
    std::unique_lock lock(mutex_);
    while (!ending_) {
      const Instant now = rig_now();
      work(now);
      wanted.assign({{wake_, POLLIN, 0}, {listener_, POLLIN, 0}});
      Instant next = period_ > Duration::zero() ? next_cut_ : kNever;
      for (const Stream& stream : streams_) {
        stream.want(wanted, now);
        next = std::min(next, stream.next_due(now));
      }
      lock.unlock();
      poll_until(wanted, now, next);
      eventfd_t value = 0;
      (void)::eventfd_read(wake_, &value);
      lock.lock();
    }
    cut_all();
  }

  static void poll_until(std::vector<pollfd>& wanted, Instant now, Instant next) {
    int limit = -1;
    if (next != kNever) {
      const auto ms = std::chrono::ceil<milliseconds>(saturating_between(now, next)).count();
      limit = static_cast<int>(std::clamp<std::int64_t>(ms, 0, 60'000));
    }
    ::poll(wanted.data(), wanted.size(), limit);
  }

  std::mutex mutex_;
  std::string target_;
  const std::string address_;
  const int number_;
  const Group group_;
  int listener_;
  const int wake_;
  Link link_;
  std::map<int, Link> group_links_;
  Duration period_ = Duration::zero();
  Instant next_cut_ = kNever;
  Counters ended_;  // of connections that are no more; `accepted` of all
  std::list<Stream> streams_;
  bool ending_ = false;
  std::thread thread_;
};

TcpProxy::TcpProxy(std::string target, const std::string& address, Group group)
    : port_(address), impl_(std::make_unique<Impl>(std::move(target), port_, std::move(group))) {}

TcpProxy::~TcpProxy() = default;

void TcpProxy::set(Link link) { impl_->set(link); }
void TcpProxy::set_group(int group, Link link) { impl_->set_group(group, link); }
void TcpProxy::heal() { impl_->heal(); }
void TcpProxy::cut() { impl_->cut(); }
void TcpProxy::cut_every(Duration period) { impl_->cut_every(period); }
void TcpProxy::refuse(bool refuse) { impl_->refuse(refuse); }
void TcpProxy::retarget(std::string target) { impl_->retarget(std::move(target)); }
TcpProxy::Counters TcpProxy::counters() const { return impl_->counters(); }

}  // namespace tenure::test
