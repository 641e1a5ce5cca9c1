// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <poll.h>
#include <string>
#include <vector>

#include "tests/stores/etcd/rig/proxy.h"

namespace tenure::test {

/// Boot time, for what really passes.
[[nodiscard]] Instant rig_now() noexcept;

/// One direction of a connection through the proxy: reads from one socket, writes to the other when
/// the bytes are due.
class Pipe {
 public:
  void set(Direction direction);
  /// Moves what can be moved; false if a socket has failed.
  [[nodiscard]] bool move(int from, int to, Instant now);
  [[nodiscard]] bool wants_read() const noexcept;
  [[nodiscard]] bool wants_write(Instant now) const noexcept;
  /// When the oldest bytes are due; kNever if there are none that may go.
  [[nodiscard]] Instant next_due() const noexcept;

  [[nodiscard]] bool lost() const noexcept { return swallowed_ > 0; }
  [[nodiscard]] bool passes() const noexcept { return direction_.flow == Flow::pass; }
  [[nodiscard]] bool ended() const noexcept { return end_passed_; }
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }
  [[nodiscard]] std::uint64_t swallowed() const noexcept { return swallowed_; }

 private:
  struct Chunk {
    Instant due;
    std::string bytes;  // none: the end of the stream
  };
  bool read(int from, Instant now);
  bool write(int to, Instant now);

  Direction direction_;
  std::deque<Chunk> chunks_;
  std::size_t waiting_ = 0;  // bytes in chunks_
  bool end_seen_ = false;
  bool end_passed_ = false;
  std::uint64_t passed_ = 0;
  std::uint64_t swallowed_ = 0;
};

/// One connection through the proxy.
class Stream {
 public:
  /// Takes both descriptors; `server` is on its way to be connected, or -1.
  Stream(int client, int server, int group);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] int group() const noexcept { return group_; }
  void set(Link link);
  void move(Instant now);
  /// Appends what to poll for.
  void want(std::vector<pollfd>& wanted, Instant now) const;
  /// When bytes become due that are not yet; kNever if there are none.
  [[nodiscard]] Instant next_due(Instant now) const noexcept;
  /// Both sides see a reset connection.
  void reset();
  [[nodiscard]] bool ended() const noexcept { return client_ < 0; }

  [[nodiscard]] const Pipe& to_server() const noexcept { return to_server_; }
  [[nodiscard]] const Pipe& to_client() const noexcept { return to_client_; }

 private:
  void close_both(bool with_reset);

  int client_;
  int server_;
  int group_;
  bool connected_ = false;
  Pipe to_server_;
  Pipe to_client_;
};

}  // namespace tenure::test
