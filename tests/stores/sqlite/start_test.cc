// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/schema.h"
#include "tests/stores/sqlite/as_nobody.h"
#include "tests/stores/sqlite/script.h"
#include "tests/support/temp_dir.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

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

// SQLite reads a database in WAL mode only where it finds, or may make, the files beside it.
TEST(SqliteStart, WhoMayWriteNothingReadsADatabaseThatNobodyHasOpen) {
  const TempDir folder;
  const std::string path = folder / "t?%23 #.db";
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  Asker theirs(executor);
  ASSERT_TRUE(theirs.open({.path = path}));
  ASSERT_TRUE(theirs.acquire("s1")->ours);
  theirs.destroy();
  ASSERT_FALSE(fs::exists(path + "-wal"));
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  Asker reader(executor);
  std::vector<std::string> seen;
  std::unique_ptr<Watch> watch;
  {
    const AsNobody nobody;
    ASSERT_TRUE(reader.open({.path = path, .create = false})) << reader.error().message;
    const auto shown = reader.list();
    ASSERT_TRUE(shown.has_value()) << shown.error().message;
    ASSERT_EQ(shown->size(), 1U);
    EXPECT_EQ(shown->front().holder->session, "s1");
    EXPECT_FALSE(fs::exists(path + "-wal"));
    watch = reader.store().watch({"e"}, [&](const Result<ElectionState>& state) {
      seen.push_back(!state ? state.error().message : state->holder ? state->holder->session : "");
    });
    executor.run_until_idle();
    EXPECT_EQ(seen, std::vector<std::string>{"s1"});
    const auto refused = reader.acquire("s2");
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Errc::permission_denied) << refused.error().message;
  }
  // It goes on when others come and go.
  ASSERT_TRUE(theirs.open({.path = path}));
  clock.advance(kTtl);
  ASSERT_TRUE(theirs.acquire("s3")->ours);
  {
    const AsNobody nobody;
    executor.advance(std::chrono::seconds(2));
    EXPECT_EQ(seen.back(), "s3");
  }
  theirs.destroy();
  const AsNobody nobody;
  EXPECT_EQ(reader.list()->front().holder->session, "s3");
  watch.reset();
  reader.destroy();
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
