// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/location.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "stores/sqlite/errors.h"
#include "stores/sqlite/open_files.h"
#include "stores/sqlite/schema.h"
#include "stores/sqlite/vfs_file.h"

namespace tenure::sqlite {
namespace {

namespace fs = std::filesystem;

// SQLite takes 512 bytes, of which it needs some for "-journal"; we need some for "-lock".
constexpr std::size_t kLongestPath = 480;

std::string absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? std::string(value) : std::string();
}

Result<void> create_private_folders(const fs::path& folder) {
  if (folder.empty() || folder == folder.root_path()) return {};
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  if (errno == ENOENT) {
    if (auto parent = create_private_folders(folder.parent_path()); !parent) return parent;
    if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return {};
  }
  return tl::unexpected<Error>(make_system_error(errno, "create the folder", folder.string()));
}

std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a plain file";
}

// Of a file that is no database yet; by its bytes of one moment, because it may become one now.
Result<Content> look_for_draft(const VfsFile& file, std::int64_t size, const std::string& path) {
  auto image = new_database_image();
  if (!image) return tl::unexpected<Error>(std::move(image.error()));
  std::vector<unsigned char> bytes(std::min(static_cast<std::size_t>(size), image->size()));
  if (auto done = file.read(bytes.data(), bytes.size(), 0); !done) {
    return tl::unexpected<Error>(std::move(done.error()));
  }
  auto ours = check_header(bytes.data(), bytes.size(), path);
  if (ours) return Content::tenure;
  const bool is_longer = static_cast<std::size_t>(size) > image->size();
  if (!is_longer && is_part_of_image(bytes, *image)) return Content::unfinished;
  return tl::unexpected<Error>(std::move(ours.error()));
}

Result<Content> look_inside(const std::string& path, const std::string& vfs) {
  auto file = VfsFile::open(path, vfs, VfsFile::Access::read);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  auto size = (*file)->size();
  if (!size) return tl::unexpected<Error>(std::move(size.error()));
  std::array<unsigned char, kHeaderSize> header{};
  if (auto done = (*file)->read(header.data(), header.size(), 0); !done) {
    return tl::unexpected<Error>(std::move(done.error()));
  }
  const bool is_whole = *size >= static_cast<std::int64_t>(kHeaderSize);
  if (is_whole && check_header(header.data(), kHeaderSize, path)) return Content::tenure;
  return look_for_draft(**file, *size, path);
}

// A log without its database belongs to one that was deleted. SQLite would take it for the new
// one's and write its pages there.
Result<void> check_no_left_log(const Location& location) {
  for (const char* suffix : {"-wal", "-journal"}) {
    struct stat info {};
    const std::string path = location.path + suffix;
    if (::stat(path.c_str(), &info) == 0 && info.st_size > 0) {
      return fail(Errc::corrupt, location.path + " is missing or empty, but " + path +
                                     " of an earlier database is there; put the database back or "
                                     "delete that file as well");
    }
  }
  return {};
}

Result<void> check_local(const fs::path& folder, const Environment& environment) {
  std::error_code error;
  fs::path there = folder;
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  auto type = environment.file_system_type(there.string());
  if (!type) return tl::unexpected<Error>(std::move(type.error()));
  return check_file_system(*type, folder.string());
}

}  // namespace

Result<Location> resolve_location(const SqliteOptions& options, const Environment& environment) {
  std::string wanted;
  if (options.path) {
    wanted = *options.path;
  } else if (auto usual = default_sqlite_path()) {
    wanted = *usual;
  } else {
    return tl::unexpected<Error>(std::move(usual.error()));
  }
  if (wanted.empty()) {
    return fail(Errc::invalid_argument, "the path of a sqlite store must not be empty");
  }
  if (wanted.find('\0') != std::string::npos) {
    return fail(Errc::invalid_argument, "the path of a sqlite store must not contain a NUL byte");
  }
  if (wanted.back() == '/') {
    return fail(Errc::invalid_argument, wanted + " names a folder, not a database file");
  }
  if (!options.path && options.create) {
    // Before anything is created.
    const fs::path folder = fs::path(wanted).parent_path();
    if (auto local = check_local(folder, environment); !local) {
      return tl::unexpected<Error>(std::move(local.error()));
    }
    auto made = create_private_folders(folder);
    if (!made) return tl::unexpected(made.error());
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(wanted, error);
  const fs::path parent = fs::canonical(absolute.parent_path(), error);
  if (error.value() == ENOENT && !options.create) {
    return Location{absolute.string(), absolute.parent_path().string()};
  }
  if (error) {
    return tl::unexpected<Error>(
        make_system_error(error.value(), "use the folder", absolute.parent_path().string()));
  }
  fs::path path = parent / absolute.filename();
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    const fs::path target = fs::canonical(path, error);
    if (error) {
      return tl::unexpected<Error>(
          make_system_error(error.value(), "follow the symbolic link", path.string()));
    }
    path = target;
  }
  Location location{path.string(), path.parent_path().string()};
  if (location.path.size() > kLongestPath) {
    return fail(Errc::invalid_argument, "the path of a sqlite store may have " +
                                            std::to_string(kLongestPath) + " bytes; this one has " +
                                            std::to_string(location.path.size()));
  }
  if (auto local = check_local(location.folder, environment); !local) {
    return tl::unexpected<Error>(std::move(local.error()));
  }
  return location;
}

Result<Content> look_at(const Location& location, const std::string& vfs) {
  struct stat info {};
  if (::stat(location.path.c_str(), &info) != 0) {
    if (errno != ENOENT) {
      return tl::unexpected<Error>(make_system_error(errno, "open", location.path));
    }
    if (auto clean = check_no_left_log(location); !clean) return tl::unexpected(clean.error());
    return Content::missing;
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(
        Errc::invalid_argument,
        location.path + " is " + std::string(kind_of(info.st_mode)) + ", not a database file");
  }
  if (auto alone = check_only_name(location.path); !alone) return tl::unexpected(alone.error());
  if (info.st_size == 0) {
    if (auto clean = check_no_left_log(location); !clean) return tl::unexpected(clean.error());
    return Content::empty;
  }
  return look_inside(location.path, vfs);
}

Result<void> check_writable(const Location& location) {
  if (::faccessat(AT_FDCWD, location.folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return tl::unexpected<Error>(
        make_system_error(errno, "create files in the folder", location.folder));
  }
  if (::faccessat(AT_FDCWD, location.path.c_str(), R_OK | W_OK, AT_EACCESS) != 0 &&
      errno != ENOENT) {
    return tl::unexpected<Error>(make_system_error(errno, "write", location.path));
  }
  return {};
}

}  // namespace tenure::sqlite

namespace tenure {

Result<std::string> default_sqlite_path() {
  using sqlite::absolute_variable;
  if (const auto state = absolute_variable("XDG_STATE_HOME"); !state.empty()) {
    return state + "/tenure/tenure.db";
  }
  if (const auto home = absolute_variable("HOME"); !home.empty()) {
    return home + "/.local/state/tenure/tenure.db";
  }
  if (::geteuid() == 0) return std::string("/var/lib/tenure/tenure.db");
  return fail(Errc::invalid_argument,
              "neither XDG_STATE_HOME nor HOME is set to an absolute path, so there is no usual "
              "place for the sqlite store; give a path, as in sqlite:/path/to/tenure.db");
}

}  // namespace tenure
