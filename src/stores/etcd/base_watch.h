// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/core.h"
#include "stores/etcd/view.h"
#include "stores/etcd/watching.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenure::etcd {

/// One watch of a user: keys watched for it, reads with another try after a fault, and an end that
/// is said once. A user may destroy the watch from within its own call.
class BaseWatch : public std::enable_shared_from_this<BaseWatch> {
 public:
  BaseWatch(Core& core, Watching& watching, Watching::OnState on_state);
  virtual ~BaseWatch();
  BaseWatch(const BaseWatch&) = delete;
  BaseWatch& operator=(const BaseWatch&) = delete;

  virtual void start() = 0;
  void end(const Error& error);
  /// The user has destroyed it.
  void drop();

 protected:
  virtual void on_live(const std::string& key, Revision revision) = 0;
  virtual void on_event(const WatchEvent& event) = 0;
  virtual void on_read(const TxnReply& reply) = 0;
  [[nodiscard]] virtual std::vector<Op> reads() const = 0;

  [[nodiscard]] bool over() const noexcept { return !on_state_ && !telling_; }
  void tell(ElectionState state);
  /// Exactly these keys are watched; one that ends with a slash, or is empty, with all under it.
  void watch_keys(const std::vector<std::string>& keys, const std::string& prefix);
  void read();
  void read_later(Duration at_most);
  /// Answers of reads that are under way are not wanted any more.
  void forget_reads() noexcept {
    ++scope_;
    reading_ = false;
  }

  Core& core_;

 private:
  class Ear;
  void read_failed(const Error& error);

  Watching& watching_;
  Watching::OnState on_state_;
  bool telling_ = false;
  std::map<std::string, std::unique_ptr<Ear>> ears_;
  std::vector<std::unique_ptr<Ear>> removed_;
  bool reading_ = false;
  unsigned scope_ = 0;
  unsigned failures_ = 0;
  std::unique_ptr<Executor::Handle> timer_;
};

/// Of one election, from the place of a candidate of ours if there is one.
class OneWatch final : public BaseWatch {
 public:
  OneWatch(Core& core, Watching& watching, Watching::OnState on_state, WatchRequest request);

  void start() override;
  void placed(const Candidate& candidate, Revision revision, const std::vector<KeyValue>& seen,
              bool complete);
  /// Sees whether there still is a place to watch from.
  void look_around();
  [[nodiscard]] const WatchRequest& request() const noexcept { return request_; }

 private:
  void on_live(const std::string& key, Revision revision) override;
  void on_event(const WatchEvent& event) override;
  void on_read(const TxnReply& reply) override;
  [[nodiscard]] std::vector<Op> reads() const override;
  void step();

  const WatchRequest request_;
  View view_;
};

/// Of every election there is.
class AllWatch final : public BaseWatch {
 public:
  AllWatch(Core& core, Watching& watching, Watching::OnState on_state)
      : BaseWatch(core, watching, std::move(on_state)) {}

  void start() override;

 private:
  void on_live(const std::string& key, Revision revision) override;
  void on_event(const WatchEvent& event) override;
  void on_read(const TxnReply& reply) override;
  [[nodiscard]] std::vector<Op> reads() const override;
  void tell_of(const std::string& election);

  std::map<std::string, View> views_;
  Revision live_at_ = 0;
};

/// Every key below the store's prefix.
[[nodiscard]] Range everything(const Core& core);
/// The elections that these keys make, each with all its members.
[[nodiscard]] std::map<std::string, std::vector<KeyValue>> by_election(
    const Core& core, const std::vector<KeyValue>& kvs);

}  // namespace tenure::etcd
