// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stores/etcd/connector.h"
#include "stores/etcd/types.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

namespace tenure::etcd {

/// The one stream of all watches. Each watch begins at the present: such a watch is live at once,
/// where one that begins in the past is served every 100 ms, and there is no old revision that
/// could have been compacted away. What happened before it was live, its listener reads.
///
/// A refused creation does not say which one it was; so after a refusal they are made one by one.
///
/// Thread-safety: everything on the loop.
class Watches {
 public:
  Watches(Connector& connector, Executor& executor);
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  [[nodiscard]] std::unique_ptr<Subscription> add(std::string key, std::string end,
                                                  KeyListener& listener);
  void on_ready();
  void on_lost();
  void on_refused(const Error& error);

 private:
  class Handle;
  enum class State : std::uint8_t { waiting, asked, live };
  struct Watched {
    std::string key;
    std::string end;
    KeyListener* listener = nullptr;
    State state = State::waiting;
  };

  void open();
  void create(std::int64_t id, Watched& watched);
  void create_next();
  void remove(std::int64_t id);
  void on_message(const std::string& bytes);
  void on_created(std::int64_t id, Revision revision);
  void on_refusal(const std::string& reason);
  void on_canceled(std::int64_t id, const std::string& reason);
  void refuse(std::int64_t id, const Error& error);
  void begin_anew();

  Connector& connector_;
  Executor& executor_;
  std::unique_ptr<Stream> stream_;
  std::uint64_t generation_ = 0;
  std::int64_t next_id_ = 1;
  std::unordered_map<std::int64_t, Watched> watched_;
  bool one_by_one_ = false;
  std::deque<std::int64_t> to_create_;  // one by one
  std::size_t asked_ = 0;               // creations that were not answered
  std::shared_ptr<Watches*> self_;      // for handles that outlive this
};

}  // namespace tenure::etcd
