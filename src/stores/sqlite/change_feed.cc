// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/change_feed.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

namespace tenure::sqlite {
namespace {

constexpr std::uint32_t kReplaced = IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
constexpr std::uint32_t kEvents = IN_MODIFY | IN_CLOSE_WRITE | kReplaced;

}  // namespace

ChangeFeed::ChangeFeed(Executor& executor, std::string path, std::function<void(Stir)> on_stir)
    : executor_(executor), path_(std::move(path)), on_stir_(std::move(on_stir)) {}

ChangeFeed::~ChangeFeed() {
  handle_.reset();
  if (fd_ >= 0) ::close(fd_);
}

void ChangeFeed::refresh() {
  if (handle_ == nullptr) {
    if (fd_ < 0) fd_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd_ < 0) return;
    auto handle = executor_.on_readable(fd_, [this] { read_events(); });
    if (!handle) return;
    handle_ = std::move(*handle);
  }
  // Again for the same inode changes nothing. maybe: there is no file yet; the next slow look will
  // bring us back here.
  ::inotify_add_watch(fd_, path_.c_str(), kEvents);
}

void ChangeFeed::read_events() {
  Stir stir;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t size = ::read(fd_, buffer.data(), buffer.size());
    if (size <= 0) break;
    for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(size);) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      at += sizeof event + event.len;
      const bool overflow = (event.mask & IN_Q_OVERFLOW) != 0;
      stir.bell = stir.bell || overflow || (event.mask & IN_MODIFY) != 0;
      stir.closed = stir.closed || overflow || (event.mask & IN_CLOSE_WRITE) != 0;
      stir.replaced = stir.replaced || (event.mask & kReplaced) != 0;
    }
  }
  // May destroy this object.
  if (stir.bell || stir.closed || stir.replaced) on_stir_(stir);
}

}  // namespace tenure::sqlite
