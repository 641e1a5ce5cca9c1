// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/transport.h"

#include <tenure/etcd_store.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenure::etcd {

/// Keeps one endpoint connected: the first that answers, knows a leader and takes our token.
///
///   idle -> connecting -> authenticating -> ready -> connecting ...
///
/// Connecting tries the endpoints one after the other, the next one a little later without giving
/// up the former, and begins anew with a growing pause when all have failed. A wrong password is
/// told to whoever waits and not tried again before somebody asks. Every way into `ready` has a new
/// generation; a complaint about an earlier one is not listened to.
///
/// Thread-safety: everything on the loop.
class Connector {
 public:
  struct Listener {
    virtual ~Listener() = default;
    virtual void on_ready() = 0;
    /// The channel is about to be destroyed; drop what runs on it.
    virtual void on_lost() = 0;
    /// Nobody can be connected before a person mends something.
    virtual void on_refused(const Error& error) = 0;
  };
  using Open =
      std::function<std::unique_ptr<Channel>(const ChannelOptions&, std::shared_ptr<Mailbox>)>;

  Connector(EtcdOptions options, Executor& executor, std::shared_ptr<Mailbox> mailbox, Open open,
            Listener& listener);
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  /// Begins to connect unless that is under way.
  void want();
  /// Null unless ready.
  [[nodiscard]] Channel* channel() const noexcept { return ready_ ? channel_.get() : nullptr; }
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  [[nodiscard]] const std::string& endpoint() const { return options_.endpoints[current_]; }
  /// Why there is no connection.
  [[nodiscard]] const Error& trouble() const noexcept { return trouble_; }

  /// Somebody was answered, sensibly: the endpoint is alive.
  void heard(bool well);
  /// A request sent at this time was not answered in time.
  void silent(std::uint64_t generation, Instant sent_at);
  /// The endpoint is of no use: another one, or a new connection to it.
  void lose(std::uint64_t generation, const Error& error);
  /// The server does not take our token.
  void distrust(std::uint64_t generation, const Error& error);

 private:
  struct Secrets {
    std::string ca;
    std::string certificate;
    std::string key;
    std::string password;
  };
  struct Attempt {
    std::unique_ptr<Channel> channel;
    std::unique_ptr<Call> probe;
    std::unique_ptr<Executor::Handle> limit;
    bool over = false;
  };

  void connect();
  void load_secrets();
  void begin_attempts();
  void start_next();
  void fail_attempt(std::size_t index, const Error& error);
  void succeed(std::size_t index);
  void authenticate();
  void on_token(const RpcStatus& status, const std::string& bytes);
  void refuse(const Error& error);
  void become_ready();
  [[nodiscard]] static Result<Secrets> read_secrets(const EtcdOptions& options);

  const EtcdOptions options_;
  Executor& executor_;
  const std::shared_ptr<Mailbox> mailbox_;
  const Open open_;
  Listener& listener_;

  bool busy_ = false;  // connecting or authenticating
  bool ready_ = false;
  std::uint64_t generation_ = 0;
  std::size_t current_ = 0;
  std::size_t started_ = 0;  // attempts of this round
  unsigned failures_ = 0;    // connections lost or rounds failed without one sensible answer
  unsigned slow_ = 0;
  Instant heard_at_ = kLongAgo;
  Error trouble_{Errc::unavailable, "not connected yet"};
  Secrets secrets_;
  std::string token_;
  Metadata metadata_;
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<Call> authentication_;
  std::vector<Attempt> attempts_;
  std::unique_ptr<Executor::Handle> timer_;
  /// Expires with this object, for answers of worker threads.
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace tenure::etcd
