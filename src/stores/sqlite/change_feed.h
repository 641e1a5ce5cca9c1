// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/executor.h>

#include <functional>
#include <memory>
#include <string>

namespace tenure::sqlite {

/// What may have happened to the other stores on a lock file.
struct Stir {
  bool bell = false;      ///< One of them has changed a holder.
  bool closed = false;    ///< One of them was closed, or its process has ended.
  bool replaced = false;  ///< The file itself was touched, moved or deleted.
};

/// Listens to a lock file through inotify. Only that file: renewals do not touch it, so they wake
/// nobody, and neither does whatever else goes on in its folder.
///
/// Thread-safety: everything on the loop.
class ChangeFeed {
 public:
  ChangeFeed(Executor& executor, std::string path, std::function<void(Stir)> on_stir);
  ~ChangeFeed();
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;

  /// Begins to listen, or listens to the file that has the path now. Call it now and then; cheap.
  void refresh();

  /// False: the system has no inotify left for us; look more often instead.
  [[nodiscard]] bool is_listening() const noexcept { return handle_ != nullptr; }

 private:
  void read_events();

  Executor& executor_;
  std::string path_;
  std::function<void(Stir)> on_stir_;
  int fd_ = -1;
  std::unique_ptr<Executor::Handle> handle_;
};

}  // namespace tenure::sqlite
