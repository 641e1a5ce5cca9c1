// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/time.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tests/stores/etcd/rig/port.h"

namespace tenure::test {

/// What becomes of the bytes of one direction.
enum class Flow {
  pass,
  swallow,  // read and lost: the sender's network looks fine, nothing arrives
  hold,     // not read: they arrive when the flow passes again, as after lost packets
};

struct Direction {
  Flow flow = Flow::pass;
  Duration delay = Duration::zero();
};

struct Link {
  Direction to_server{};
  Direction to_client{};
};

/// A TCP proxy in front of a server, with a thread of its own; each fault holds from the moment the
/// call returns, for connections that are open as well as for new ones.
///
///     TcpProxy proxy(cluster.member_endpoint(0));
///     store.open("etcd://" + proxy.endpoint());
///     proxy.set(kBlackHole);
///
/// A connection that has lost bytes is reset when it is let through again: what follows would make
/// no sense to anybody. Thread-safe.
class TcpProxy {
 public:
  struct Counters {
    std::size_t accepted = 0;  // connections so far
    std::size_t open = 0;
    std::uint64_t to_server = 0;  // bytes that came through
    std::uint64_t to_client = 0;
    std::uint64_t swallowed = 0;
  };
  /// Tells connections apart by the port that they come from: see set_group().
  using Group = std::function<int(int client_port)>;

  /// `target`: "ADDRESS:PORT". Listens on `address`.
  explicit TcpProxy(std::string target, const std::string& address = "127.0.0.1",
                    Group group = nullptr);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  [[nodiscard]] std::string endpoint() const { return port_.endpoint(); }

  /// For every connection whose group has no link of its own.
  void set(Link link);
  /// For the connections of one group.
  void set_group(int group, Link link);
  /// Every fault ends: all links pass, connections are accepted, none is cut.
  void heal();

  /// Resets all connections, now.
  void cut();
  /// And again each time that `period` has passed; zero: no more.
  void cut_every(Duration period);
  /// New connections are refused, as by a host where nobody listens.
  void refuse(bool refuse = true);
  /// Where new connections go.
  void retarget(std::string target);

  [[nodiscard]] Counters counters() const;

 private:
  class Impl;
  Port port_;
  std::unique_ptr<Impl> impl_;
};

/// Both directions are lost.
inline constexpr Link kBlackHole{{Flow::swallow, {}}, {Flow::swallow, {}}};
/// Requests arrive and take effect; the answers are lost.
inline constexpr Link kNoAnswers{{}, {Flow::swallow, {}}};
/// A cut wire: nothing arrives until it is mended, then everything does.
inline constexpr Link kCutWire{{Flow::hold, {}}, {Flow::hold, {}}};

}  // namespace tenure::test
