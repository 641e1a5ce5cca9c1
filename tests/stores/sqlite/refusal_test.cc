// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/as_nobody.h"
#include "tests/stores/sqlite/database.h"
#include "tests/stores/sqlite/script.h"
#include "tests/support/temp_dir.h"

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

}  // namespace
}  // namespace tenure::test
