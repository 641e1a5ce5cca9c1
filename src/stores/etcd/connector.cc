// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/connector.h"

#include "stores/etcd/codec.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tenure::etcd {
namespace {

using std::chrono::milliseconds;

// How long one endpoint is waited for before the next one is tried beside it.
constexpr Duration kStagger = milliseconds(250);
constexpr Duration kFirstPause = milliseconds(50);
constexpr unsigned kMostDoublings = 4;

bool has_tls(const EtcdOptions& options) {
  return !options.ca.empty() || !options.certificate.empty();
}

Result<std::string> read_file(const std::string& path) {
  if (path.empty()) return std::string();
  std::string text;
  ssize_t got = -1;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    char part[4096];
    while ((got = ::read(fd, part, sizeof part)) > 0) {
      text.append(part, static_cast<std::size_t>(got));
    }
  }
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (got == 0) return text;
  return fail(Errc::unavailable,
              "the etcd store cannot read " + path + ": " + std::generic_category().message(error));
}

Metadata make_metadata(const std::string& token) {
  Metadata metadata{{"hasleader", "true"}};
  if (!token.empty()) metadata.emplace_back("token", token);
  return metadata;
}

}  // namespace

Connector::Connector(EtcdOptions options, Executor& executor, std::shared_ptr<Mailbox> mailbox,
                     Open open, Listener& listener)
    : options_(std::move(options)),
      executor_(executor),
      mailbox_(std::move(mailbox)),
      open_(std::move(open)),
      listener_(listener),
      metadata_(make_metadata({})) {}

Connector::~Connector() = default;

void Connector::want() {
  if (ready_ || busy_) return;
  busy_ = true;
  connect();
}

void Connector::connect() {
  attempts_.clear();
  if (failures_ < options_.endpoints.size()) return load_secrets();
  const unsigned doublings =
      std::min(failures_ - static_cast<unsigned>(options_.endpoints.size()), kMostDoublings);
  const Duration pause = kFirstPause * (1U << doublings);
  const double jitter = 0.5 + 0.5 * static_cast<double>(executor_.random() >> 11U) * 0x1p-53;
  timer_ = executor_.at(saturating_add(executor_.clock().now(), scale(pause, jitter)),
                        [this] { load_secrets(); });
}

void Connector::load_secrets() {
  if (!has_tls(options_) && options_.password_file.empty()) {
    secrets_.password = options_.password;
    return begin_attempts();
  }
  executor_.run_blocking(
      [this, alive = std::weak_ptr(alive_), options = options_, mailbox = mailbox_] {
        mailbox->push([this, alive, secrets = read_secrets(options)]() mutable {
          if (alive.expired()) return;
          if (secrets) {
            secrets_ = std::move(*secrets);
            return begin_attempts();
          }
          trouble_ = secrets.error();
          ++failures_;
          failures_ = std::max(failures_, static_cast<unsigned>(options_.endpoints.size()));
          connect();
        });
      });
}

Result<Connector::Secrets> Connector::read_secrets(const EtcdOptions& options) {
  Secrets secrets;
  secrets.password = options.password;
  std::string from_file;
  for (const auto& [path, to] :
       {std::pair(&options.ca, &secrets.ca), std::pair(&options.certificate, &secrets.certificate),
        std::pair(&options.key, &secrets.key), std::pair(&options.password_file, &from_file)}) {
    auto text = read_file(*path);
    if (!text) return tl::unexpected(std::move(text.error()));
    *to = std::move(*text);
  }
  if (!options.password_file.empty()) {
    if (from_file.ends_with('\n')) from_file.pop_back();
    secrets.password = std::move(from_file);
  }
  return secrets;
}

void Connector::begin_attempts() {
  attempts_.resize(options_.endpoints.size());
  started_ = 0;
  start_next();
}

void Connector::start_next() {
  timer_ = nullptr;
  if (started_ == attempts_.size()) return;
  const std::size_t index = (current_ + started_++) % attempts_.size();
  const auto& names = options_.server_names;
  ChannelOptions channel{options_.endpoints[index], has_tls(options_), secrets_.ca,
                         secrets_.certificate, secrets_.key};
  if (!names.empty()) channel.server_name = names.size() == 1 ? names.front() : names[index];
  Attempt& attempt = attempts_[index];
  attempt.channel = open_(channel, mailbox_);
  attempt.probe = attempt.channel->call(
      codec::kStatus, {}, codec::encode_status(), false,
      [this, index](const RpcStatus& status, const std::string& bytes) {
        const std::string& endpoint = options_.endpoints[index];
        if (status.code != 0) {
          return fail_attempt(index, classify(status, Kind::read, endpoint).error);
        }
        const auto member = codec::decode_status(bytes);
        if (!member) {
          return fail_attempt(index, {Errc::corrupt, endpoint + " does not speak etcd's v3 API"});
        }
        if (member->leader == 0) {
          return fail_attempt(
              index, {Errc::unavailable, "the etcd member at " + endpoint + " knows no leader"});
        }
        succeed(index);
      });
  const Instant now = executor_.clock().now();
  attempt.limit = executor_.at(saturating_add(now, options_.dial_timeout), [this, index] {
    fail_attempt(index,
                 {Errc::unavailable, "etcd at " + options_.endpoints[index] + " does not answer"});
  });
  timer_ = executor_.at(saturating_add(now, kStagger), [this] { start_next(); });
}

void Connector::fail_attempt(std::size_t index, const Error& error) {
  trouble_ = error;
  Attempt& attempt = attempts_[index];
  attempt.over = true;
  attempt.probe = nullptr;
  attempt.channel = nullptr;
  // Its own timer may be what calls this.
  const auto limit = std::move(attempt.limit);
  if (started_ < attempts_.size()) return start_next();
  if (!std::all_of(attempts_.begin(), attempts_.end(), [](const auto& one) { return one.over; })) {
    return;
  }
  failures_ += static_cast<unsigned>(attempts_.size());
  connect();
}

void Connector::succeed(std::size_t index) {
  current_ = index;
  channel_ = std::move(attempts_[index].channel);
  timer_ = nullptr;
  // The call that is being answered is among them; it outlives this.
  const auto attempts = std::exchange(attempts_, {});
  if (!options_.user.empty() && token_.empty()) return authenticate();
  become_ready();
}

void Connector::authenticate() {
  busy_ = true;
  authentication_ = channel_->call(
      codec::kAuthenticate, {}, codec::encode_authenticate(options_.user, secrets_.password), false,
      [this](const RpcStatus& status, const std::string& bytes) { on_token(status, bytes); });
  timer_ = executor_.at(saturating_add(executor_.clock().now(), options_.request_timeout), [this] {
    on_token({4, "authentication was not answered in time"}, {});
  });
}

void Connector::on_token(const RpcStatus& status, const std::string& bytes) {
  const auto call = std::exchange(authentication_, nullptr);
  const auto timer = std::exchange(timer_, nullptr);
  if (status.code == 0) {
    token_ = codec::decode_authenticate(bytes).value_or(std::string());
    metadata_ = make_metadata(token_);
    return become_ready();
  }
  // A server without authentication takes no token either.
  if (is_without_authentication(status)) {
    token_.clear();
    metadata_ = make_metadata({});
    return become_ready();
  }
  const Fault fault = classify(status, Kind::read, endpoint());
  if (fault.cure != Cure::elsewhere) return refuse(fault.error);
  trouble_ = fault.error;
  ++failures_;
  current_ = (current_ + 1) % options_.endpoints.size();
  channel_ = nullptr;
  connect();
}

void Connector::refuse(const Error& error) {
  trouble_ = error;
  busy_ = false;
  channel_ = nullptr;
  listener_.on_refused(error);
}

void Connector::become_ready() {
  busy_ = false;
  ready_ = true;
  slow_ = 0;
  heard_at_ = executor_.clock().now();
  ++generation_;
  listener_.on_ready();
}

void Connector::heard(bool well) {
  heard_at_ = executor_.clock().now();
  if (!well) return;
  slow_ = 0;
  failures_ = 0;
}

void Connector::silent(std::uint64_t generation, Instant sent_at) {
  if (!ready_ || generation != generation_) return;
  // One slow answer is no reason to throw away a connection on which others come.
  if (heard_at_ > sent_at && ++slow_ < 2) return;
  lose(generation, {Errc::unavailable, "etcd at " + endpoint() + " does not answer"});
}

void Connector::lose(std::uint64_t generation, const Error& error) {
  if (!ready_ || generation != generation_) return;
  trouble_ = error;
  ++failures_;
  ready_ = false;
  listener_.on_lost();
  current_ = (current_ + 1) % options_.endpoints.size();
  // Whoever complained may be one of the channel's own calls.
  executor_.post([channel = std::shared_ptr<Channel>(std::move(channel_))] {});
  want();
}

void Connector::distrust(std::uint64_t generation, const Error& error) {
  if (!ready_ || generation != generation_) return;
  trouble_ = error;
  // What is in flight is answered on this connection all the same; streams begin anew.
  ready_ = false;
  token_.clear();
  metadata_ = make_metadata({});
  if (options_.user.empty()) return refuse(error);
  authenticate();
}

}  // namespace tenure::etcd
