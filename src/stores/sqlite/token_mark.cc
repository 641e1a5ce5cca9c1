// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/token_mark.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "stores/sqlite/errors.h"

namespace tenure::sqlite {
namespace {

// Behind the bell, in the same sector of the disk, so that it is never half written.
constexpr off_t kPlace = 64;
constexpr std::uint64_t kMagic = 0x4B52414D45524E54;  // "TNREMARK"
constexpr std::uint64_t kAhead = 1024;

using Words = std::array<std::uint64_t, 5>;  // magic, boot, last, limit, and a hash of those

// FNV-1a.
std::uint64_t hash(std::string_view bytes) noexcept {
  std::uint64_t value = 0xCBF29CE484222325;
  for (const char byte : bytes) {
    value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  }
  return value;
}

std::uint64_t hash_of(const Words& words) noexcept {
  return hash({reinterpret_cast<const char*>(words.data()), sizeof words - sizeof words.back()});
}

}  // namespace

std::uint64_t TokenMark::floor(std::string_view boot_id) const noexcept {
  return boot == hash(boot_id) ? last : limit;
}

bool TokenMark::note(std::uint64_t number, std::string_view boot_id) noexcept {
  const bool is_within = number <= limit && boot == hash(boot_id);
  boot = hash(boot_id);
  last = number;
  if (!is_within) limit = number + kAhead - 1;
  return !is_within;
}

TokenMark read_mark(int fd) noexcept {
  Words words{};
  if (::pread(fd, words.data(), sizeof words, kPlace) != ssize_t{sizeof words}) return {};
  if (words[0] != kMagic || words[4] != hash_of(words)) return {};
  return {words[1], words[2], words[3]};
}

Result<void> write_mark(int fd, const TokenMark& mark, bool durable, const std::string& path) {
  Words words{kMagic, mark.boot, mark.last, mark.limit, 0};
  words[4] = hash_of(words);
  errno = ENOSPC;  // What less than everything means.
  const bool written = ::pwrite(fd, words.data(), sizeof words, kPlace) == ssize_t{sizeof words} &&
                       (!durable || ::fdatasync(fd) == 0);
  if (written) return {};
  return tl::unexpected<Error>(make_system_error(errno, "write", path));
}

}  // namespace tenure::sqlite
