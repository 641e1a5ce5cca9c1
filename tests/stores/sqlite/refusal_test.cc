// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/schema.h"
#include "tests/stores/sqlite/database.h"
#include "tests/stores/sqlite/script.h"
#include "tests/support/temp_dir.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

// Every file of a folder with its kind, mode and content.
std::map<std::string, std::string> snapshot(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat info {};
    if (::lstat(entry.path().c_str(), &info) != 0) continue;
    files[entry.path().string()] =
        std::to_string(info.st_mode) + " " +
        (S_ISREG(info.st_mode) ? read_file(entry.path()) : std::string());
  }
  return files;
}

class Refusal : public testing::Test {
 protected:
  // Opening is refused with `code` and a message with `word`, and the folder is as it was.
  void expect_refused(const std::string& path, Errc code, const std::string& word,
                      const sqlite::Environment& environment = machine()) {
    const auto before = snapshot(folder_.path());
    EXPECT_FALSE(asker_.open({.path = path}, environment));
    EXPECT_EQ(asker_.error().code, code) << asker_.error().message;
    EXPECT_NE(asker_.error().message.find(word), std::string::npos) << asker_.error().message;
    EXPECT_EQ(snapshot(folder_.path()), before) << "something was changed";
  }

  // A file with the first bytes of a tenure database, and `change` made to it.
  std::string changed_database(const std::string& name, const std::string& change) {
    EXPECT_TRUE(asker_.open({.path = folder_ / name}));
    asker_.destroy();
    Database(folder_ / name).run(change);
    return folder_ / name;
  }

  TempDir folder_;
  testkit::ManualClock clock_;
  testkit::ManualExecutor executor_{clock_};
  Asker asker_{executor_};
  Asker asker_copy_{executor_};
};

TEST_F(Refusal, OfPathsThatCanNameNoFile) {
  expect_refused("", Errc::invalid_argument, "empty");
  expect_refused(std::string("a\0b", 3), Errc::invalid_argument, "NUL");
  expect_refused(folder_ / "missing/t.db", Errc::invalid_argument, "missing");
  expect_refused(folder_ / "t.db/", Errc::invalid_argument, "folder");
  expect_refused(folder_ / std::string(255, 'n') + "/" + std::string(250, 'n'),
                 Errc::invalid_argument, "");
  fs::create_directories(folder_ / (std::string(200, 'd') + "/" + std::string(200, 'd')));
  expect_refused(
      folder_ / (std::string(200, 'd') + "/" + std::string(200, 'd') + "/" + std::string(100, 'n')),
      Errc::invalid_argument, "480");
  (void)folder_.write("file", "x");
  expect_refused(folder_ / "file/t.db", Errc::invalid_argument, "Not a directory");
}

TEST_F(Refusal, OfWhatIsNoPlainFile) {
  fs::create_directory(folder_ / "directory");
  expect_refused(folder_ / "directory", Errc::invalid_argument, "a directory");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_refused(folder_ / "pipe", Errc::invalid_argument, "a pipe");
  expect_refused("/dev/null", Errc::invalid_argument, "a device");
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = folder_ / "socket";
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, name.c_str(), name.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  expect_refused(name, Errc::invalid_argument, "a socket");
  ::close(fd);
  fs::create_symlink("loop", folder_ / "loop");
  expect_refused(folder_ / "loop", Errc::invalid_argument, "loop");
  fs::create_symlink("nowhere", folder_ / "dangling");
  expect_refused(folder_ / "dangling", Errc::invalid_argument, "dangling");
}

TEST_F(Refusal, OfFilesOfOthers) {
  expect_refused(folder_.write("text", std::string(5000, 't')), Errc::corrupt, "not a tenure");
  expect_refused(folder_.write("short", "SQLite format 3"), Errc::corrupt, "not a tenure");
  Database(folder_ / "foreign.db").run("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  expect_refused(folder_ / "foreign.db", Errc::corrupt, "another program");
}

// SQLite itself would finish what a log holds, and delete it, on opening such a file.
TEST_F(Refusal, OfAForeignDatabaseLeavesItsLogsAlone) {
  Database foreign(folder_ / "wal.db");
  foreign.run("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  ASSERT_GT(fs::file_size(folder_ / "wal.db-wal"), 0U);
  fs::create_directory(folder_ / "copy");
  for (const char* name : {"wal.db", "wal.db-wal"}) {
    fs::copy_file(folder_ / name, folder_ / (std::string("copy/") + name));
  }
  if (fs::file_size(folder_ / "copy/wal.db") == 0) {
    expect_refused(folder_ / "copy/wal.db", Errc::corrupt, "earlier database");
  } else {
    expect_refused(folder_ / "copy/wal.db", Errc::corrupt, "another program");
  }
  foreign.run("PRAGMA wal_checkpoint; INSERT INTO t VALUES (2)");
  fs::copy_file(folder_ / "wal.db", folder_ / "copy/wal.db", fs::copy_options::overwrite_existing);
  expect_refused(folder_ / "copy/wal.db", Errc::corrupt, "another program");
  (void)folder_.write("gone.db-wal", "what is left of it");
  expect_refused(folder_ / "gone.db", Errc::corrupt, "earlier database");
}

TEST_F(Refusal, OfAnotherSchema) {
  expect_refused(changed_database("newer.db", "PRAGMA user_version = 2"), Errc::corrupt, "newer");
  expect_refused(changed_database("none.db", "PRAGMA user_version = 0"), Errc::corrupt, "damaged");
  expect_refused(changed_database("empty.db", "DROP TABLE election"), Errc::corrupt, "election");
  expect_refused(changed_database("counter.db", "DELETE FROM meta"), Errc::corrupt, "counter");
}

// The last to close a database brings its log into it, if it is let.
TEST_F(Refusal, OfADatabaseWithALogLeavesBothAsTheyAre) {
  ASSERT_TRUE(asker_.open({.path = folder_ / "t.db"}));
  ASSERT_TRUE(asker_.acquire("s1")->ours);
  fs::create_directory(folder_ / "copy");
  const std::pair<const char*, const char*> changes[] = {
      {"PRAGMA user_version = 2", "newer"},
      {"PRAGMA user_version = 1; PRAGMA application_id = 7", "another program"},
      {"PRAGMA application_id = 1414419013; ALTER TABLE election RENAME TO e", "election"},
      {"ALTER TABLE e RENAME TO election; DELETE FROM meta", "counter"}};
  for (const auto& [change, word] : changes) {
    SCOPED_TRACE(change);
    Database(folder_ / "t.db").run(change);
    for (const bool with_index : {false, true}) {
      for (const char* name : {"t.db", "t.db-wal", "t.db-shm"}) {
        const fs::path copy = folder_ / (std::string("copy/") + name);
        fs::remove(copy);
        if (!with_index && std::string_view(name) == "t.db-shm") continue;
        fs::copy_file(folder_ / name, copy);
      }
      ASSERT_GT(fs::file_size(folder_ / "copy/t.db-wal"), 0U);
      if (with_index) {
        const std::string log = read_file(folder_ / "copy/t.db-wal");
        const std::string database = read_file(folder_ / "copy/t.db");
        EXPECT_FALSE(asker_copy_.open({.path = folder_ / "copy/t.db"}));
        EXPECT_EQ(read_file(folder_ / "copy/t.db-wal"), log);
        EXPECT_EQ(read_file(folder_ / "copy/t.db"), database);
      } else {
        const auto before = snapshot(folder_ / "copy");
        EXPECT_FALSE(asker_copy_.open({.path = folder_ / "copy/t.db"}));
        EXPECT_EQ(snapshot(folder_ / "copy"), before);
      }
      EXPECT_EQ(asker_copy_.error().code, Errc::corrupt) << asker_copy_.error().message;
      EXPECT_NE(asker_copy_.error().message.find(word), std::string::npos)
          << asker_copy_.error().message;
    }
  }
}

TEST_F(Refusal, OfADamagedDatabase) {
  const std::string path = changed_database("t.db", "PRAGMA wal_checkpoint(TRUNCATE)");
  std::string content = read_file(path);
  std::fill(content.begin() + 100, content.end(), '\x5A');
  (void)folder_.write("t.db", content);
  expect_refused(path, Errc::corrupt, "malformed");
  content.resize(4096 + 17);
  (void)folder_.write("t.db", content);
  expect_refused(path, Errc::corrupt, "");
}

TEST_F(Refusal, SB12_OfAFileSystemThatMachinesShare) {
  sqlite::Environment nfs = machine();
  nfs.file_system_type = [](const std::string&) { return Result<std::int64_t>(0x6969); };
  expect_refused(folder_ / "t.db", Errc::unsupported, "NFS", nfs);
  ASSERT_EQ(::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1), 0);
  EXPECT_FALSE(asker_.open({}, nfs));
  EXPECT_EQ(asker_.error().code, Errc::unsupported) << asker_.error().message;
  EXPECT_FALSE(fs::exists(folder_ / "state"));
  ::unsetenv("XDG_STATE_HOME");
}

// Another user for a while, because nothing is forbidden to root.
class AsNobody {
 public:
  AsNobody() : was_root_(::geteuid() == 0) {
    if (was_root_ && ::seteuid(65534) != 0) std::abort();
  }
  ~AsNobody() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool was_root_;
};

TEST_F(Refusal, OfWhatCannotBeWritten) {
  const std::string path = changed_database("t.db", "PRAGMA wal_checkpoint(TRUNCATE)");
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  {
    const AsNobody nobody;
    expect_refused(folder_ / "new.db", Errc::permission_denied, "folder");
    expect_refused(path, Errc::permission_denied, "folder");
  }
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  const AsNobody nobody;
  expect_refused(path, Errc::permission_denied, "t.db");
}

TEST(SqliteStart, AnEmptyFileBecomesADatabaseAndKeepsItsMode) {
  const TempDir folder;
  const std::string path = folder.write("t.db", "");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  Asker asker(executor);
  ASSERT_TRUE(asker.open({.path = path})) << asker.error().message;
  EXPECT_TRUE(asker.acquire("s1")->ours);
  for (const char* suffix : {"", "-wal", "-lock"}) {
    struct stat info {};
    ASSERT_EQ(::stat((path + suffix).c_str(), &info), 0) << suffix;
    EXPECT_EQ(info.st_mode & 0777, 0640U) << suffix;
  }
}

// The way to share a store between users, as docs/stores/sqlite.md has it.
TEST(SqliteStart, AnEmptyFileOfAnotherUserIsSharedWithItsOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user for a while";
  const TempDir folder;
  const std::string path = folder.write("t.db", "");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  struct stat before {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  Asker theirs(executor);
  {
    const AsNobody nobody;
    ASSERT_TRUE(theirs.open({.path = path})) << theirs.error().message;
    ASSERT_TRUE(theirs.acquire("s1")->ours);
  }
  struct stat after {};
  ASSERT_EQ(::stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_mode, before.st_mode);
  for (const char* suffix : {"-wal", "-shm", "-lock"}) {
    ASSERT_EQ(::stat((path + suffix).c_str(), &after), 0) << suffix;
    EXPECT_EQ(after.st_mode & 0777, 0666U) << suffix;
  }
  Asker ours(executor);
  ASSERT_TRUE(ours.open({.path = path})) << ours.error().message;
  EXPECT_FALSE(ours.acquire("s2")->ours);
  clock.advance(kTtl);
  EXPECT_TRUE(ours.acquire("s2")->ours);
  clock.advance(kTtl);
  const AsNobody nobody;
  EXPECT_TRUE(theirs.acquire("s1")->ours) << "with what the other user wrote";
}

TEST(SqliteStart, AUserWhoMayNotWriteAnEmptyFileIsToldAndLeavesNothing) {
  const TempDir folder;
  const std::string path = folder.write("t.db", "");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  Asker asker(executor);
  const AsNobody nobody;
  EXPECT_FALSE(asker.open({.path = path}));
  EXPECT_EQ(asker.error().code, Errc::permission_denied) << asker.error().message;
  EXPECT_FALSE(fs::exists(path + "-lock"));
}

// A maker that was killed in the middle, at each point.
TEST(SqliteStart, AnUnfinishedDatabaseIsCompleted) {
  const auto image = sqlite::new_database_image();
  ASSERT_TRUE(image.has_value());
  const std::string whole(image->begin(), image->end());
  for (const std::size_t size : {std::size_t{4096}, std::size_t{8192}, whole.size()}) {
    const TempDir folder;
    std::string part = whole.substr(0, size);
    std::fill_n(part.begin(), 16, '\0');
    const std::string path = folder.write("t.db", part);
    testkit::ManualClock clock;
    testkit::ManualExecutor executor(clock);
    Asker asker(executor);
    EXPECT_TRUE(asker.open({.path = path, .create = false})) << asker.error().message;
    EXPECT_TRUE(asker.list()->empty());
    EXPECT_EQ(read_file(path), part) << "changed by who only looks";
    ASSERT_TRUE(asker.open({.path = path})) << asker.error().message;
    EXPECT_EQ(asker.acquire("s1")->record->token, 1U);
  }
}

TEST(SqliteStart, WhatOnlyLooksLikeAnUnfinishedDatabaseIsRefused) {
  const auto image = sqlite::new_database_image();
  ASSERT_TRUE(image.has_value());
  const std::string whole(image->begin(), image->end());
  std::string part = whole;
  std::fill_n(part.begin(), 16, '\0');
  std::string used = part;
  used[whole.size() - 5] = 'x';
  std::string flipped = whole;
  flipped[3] = '\0';
  flipped[whole.size() - 5] = 'x';
  for (const std::string& content : {std::string(whole.size(), '\0'), std::string(512, '\0'), used,
                                     flipped, part + std::string(1, '\0'), part.substr(0, 99)}) {
    const TempDir folder;
    const std::string path = folder.write("t.db", content);
    testkit::ManualClock clock;
    testkit::ManualExecutor executor(clock);
    Asker asker(executor);
    EXPECT_FALSE(asker.open({.path = path}));
    EXPECT_EQ(asker.error().code, Errc::corrupt) << asker.error().message;
    EXPECT_EQ(read_file(path), content);
    EXPECT_FALSE(fs::exists(path + "-lock"));
  }
}

// Fewer descriptors than it takes, down to none.
TEST(SqliteStart, WithoutDescriptorsNothingIsHalfMade) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  int refused = 0;
  for (const bool empty_file : {false, true}) {
    for (rlim_t limit = 3; limit < 40; ++limit) {
      const TempDir folder;
      const std::string path = empty_file ? folder.write("t.db", "") : folder / "t.db";
      Asker asker(executor);
      const rlimit few{limit, usual.rlim_max};
      ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
      const bool opened = asker.open({.path = path});
      ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
      if (opened) continue;
      ++refused;
      EXPECT_EQ(asker.error().code, Errc::unavailable) << asker.error().message;
      for (const auto& entry : fs::directory_iterator(folder.path())) {
        const std::string name = entry.path().filename();
        const bool is_whole = name == "t.db" && fs::file_size(path) > 0;
        EXPECT_TRUE(is_whole || fs::exists(path)) << name << " with " << limit;
        EXPECT_EQ(name.find("-new"), std::string::npos) << name;
      }
      ASSERT_TRUE(asker.open({.path = path})) << asker.error().message;
    }
  }
  EXPECT_GT(refused, 4);
}

TEST(SqliteStart, TheUsualPlaceIsMadeForItsOwnerOnly) {
  const TempDir folder;
  ASSERT_EQ(::setenv("XDG_STATE_HOME", (folder / "a/b").c_str(), 1), 0);
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  Asker asker(executor);
  EXPECT_TRUE(asker.open({.create = false})) << asker.error().message;
  EXPECT_FALSE(fs::exists(folder / "a")) << "created although it was told not to";
  ASSERT_TRUE(asker.open({})) << asker.error().message;
  EXPECT_TRUE(fs::exists(folder / "a/b/tenure/tenure.db"));
  struct stat info {};
  ASSERT_EQ(::stat((folder / "a/b/tenure").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  ::unsetenv("XDG_STATE_HOME");
}

TEST(SqliteStart, TheUsualPlaceComesFromTheEnvironment) {
  const char* home_before = std::getenv("HOME");
  const std::string home = home_before != nullptr ? home_before : "";
  ::setenv("XDG_STATE_HOME", "/state", 1);
  EXPECT_EQ(default_sqlite_path(), "/state/tenure/tenure.db");
  ::setenv("XDG_STATE_HOME", "relative", 1);
  ::setenv("HOME", "/home/u", 1);
  EXPECT_EQ(default_sqlite_path(), "/home/u/.local/state/tenure/tenure.db");
  ::unsetenv("HOME");
  if (::geteuid() == 0) {
    EXPECT_EQ(default_sqlite_path(), "/var/lib/tenure/tenure.db");
  }
  {
    const AsNobody nobody;
    const auto path = default_sqlite_path();
    ASSERT_FALSE(path.has_value());
    EXPECT_EQ(path.error().code, Errc::invalid_argument);
  }
  ::unsetenv("XDG_STATE_HOME");
  if (home_before != nullptr) ::setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace tenure::test
