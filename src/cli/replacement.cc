// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/replacement.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>

namespace tenure::cli {
namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

std::error_code Replacement::prepare() {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::file_status status = fs::status(target_, failure);
  const bool exists = fs::exists(status);
  if (!exists && status.type() != fs::file_type::not_found) return failure;
  const std::string& name = target_.native();
  // Names of open descriptors, whatever those are.
  const bool descriptor = name.starts_with("/dev/") || name.starts_with("/proc/");
  const bool dangling = !exists && fs::is_symlink(fs::symlink_status(target_, failure));
  if (descriptor || dangling || (exists && !fs::is_regular_file(status))) return open_direct();
  if (exists) {
    target_ = fs::canonical(target_, failure);
    if (failure) return failure;
    if (::access(target_.c_str(), W_OK) != 0) return last_error();
    mode_ = static_cast<mode_t>(status.permissions() & fs::perms::all);
  } else {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode_ = 0666 & ~mask;
  }
  if (const auto error = open_beside()) return error;
  ::close(std::exchange(fd_, -1));
  return ::unlink(beside_.c_str()) == 0 ? std::error_code() : last_error();
}

std::error_code Replacement::open_direct() {
  fd_ = ::open(target_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return fd_ >= 0 ? std::error_code() : last_error();
}

std::error_code Replacement::open_beside() {
  beside_ = (target_.parent_path() / ".tenure-XXXXXX").native();
  fd_ = ::mkostemp(beside_.data(), O_CLOEXEC);
  return fd_ >= 0 ? std::error_code() : last_error();
}

std::error_code Replacement::write(std::string_view content) {
  if (fd_ >= 0) return write_and_close(content);
  if (const auto error = open_beside()) return error;
  auto error = ::fchmod(fd_, mode_) == 0 ? std::error_code() : last_error();
  if (!error) error = write_and_close(content);
  if (!error && ::rename(beside_.c_str(), target_.c_str()) != 0) error = last_error();
  if (error) ::unlink(beside_.c_str());
  return error;
}

std::error_code Replacement::write_and_close(std::string_view content) {
  while (!content.empty()) {
    const ssize_t wrote = ::write(fd_, content.data(), content.size());
    if (wrote < 0 && errno != EINTR) return last_error();
    if (wrote > 0) content.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return ::close(std::exchange(fd_, -1)) == 0 ? std::error_code() : last_error();
}

}  // namespace tenure::cli
