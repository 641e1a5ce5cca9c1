// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/script.h"
#include "tests/support/temp_dir.h"

#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

// SQLite names its log after the path, and so do we the lock file: who came by another name would
// be alone there.
class Names : public testing::Test {
 protected:
  void expect_refused(const std::string& path, const std::string& word) {
    EXPECT_FALSE(b_.open({.path = path})) << path;
    EXPECT_EQ(b_.error().code, Errc::invalid_argument) << b_.error().message;
    EXPECT_NE(b_.error().message.find(word), std::string::npos) << b_.error().message;
    EXPECT_FALSE(b_.open({.path = path, .create = false})) << "even to look at";
    for (const char* suffix : {"-wal", "-shm", "-lock"}) {
      if (path != path_) {
        EXPECT_FALSE(fs::exists(path + suffix)) << suffix;
      }
    }
  }

  TempDir folder_;
  std::string path_ = folder_ / "t.db";
  std::string other_ = folder_ / "other.db";
  testkit::ManualClock clock_;
  testkit::ManualExecutor executor_{clock_};
  Asker a_{executor_};
  Asker b_{executor_};
};

TEST_F(Names, AFileWithTwoIsRefusedByEither) {
  ASSERT_TRUE(a_.open({.path = path_}));
  a_.destroy();
  fs::create_hard_link(path_, other_);
  expect_refused(path_, "2 names");
  expect_refused(other_, "2 names");
  ASSERT_TRUE(fs::remove(other_));
  EXPECT_TRUE(a_.open({.path = path_})) << a_.error().message;
}

TEST_F(Names, AnEmptyFileWithTwoIsRefusedAndStaysEmpty) {
  (void)folder_.write("t.db", "");
  fs::create_hard_link(path_, other_);
  expect_refused(path_, "2 names");
  EXPECT_EQ(fs::file_size(path_), 0U);
  EXPECT_FALSE(fs::exists(path_ + "-lock"));
}

TEST_F(Names, ASecondOneMadeMeanwhileLetsTheHolderGoOnAndNobodyElseIn) {
  ASSERT_TRUE(a_.open({.path = path_}));
  const auto held = a_.acquire("s1");
  ASSERT_TRUE(held && held->ours);
  fs::create_hard_link(path_, other_);
  expect_refused(path_, "2 names");
  expect_refused(other_, "2 names");
  EXPECT_TRUE(a_.renew(*held->record)->held);
  const auto refused = a_.acquire("s2", "another election");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::unavailable) << "it may go away again";
  EXPECT_NE(refused.error().message.find("2 names"), std::string::npos);
  EXPECT_TRUE(a_.release(*held->record)->released);
  ASSERT_TRUE(fs::remove(other_));
  EXPECT_TRUE(a_.acquire("s2", "another election")->ours);
}

TEST_F(Names, AMountedFileIsRefused) {
  ASSERT_TRUE(a_.open({.path = path_}));
  a_.destroy();
  (void)folder_.write("other.db", "");
  if (::mount(path_.c_str(), other_.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "cannot mount a file here: " << std::strerror(errno);
  }
  expect_refused(other_, "mount its folder");
  EXPECT_TRUE(a_.open({.path = path_})) << "the file itself is not a mount point";
  a_.destroy();
  ASSERT_EQ(::umount2(other_.c_str(), MNT_DETACH), 0);
}

TEST_F(Names, SymbolicLinksAndRelativePathsLeadToOneStore) {
  ASSERT_TRUE(a_.open({.path = path_}));
  ASSERT_TRUE(a_.acquire("s1")->ours);
  fs::create_directories(folder_ / "d/e");
  fs::create_directory_symlink(folder_.path(), folder_ / "d/back");
  fs::create_symlink("../t.db", folder_ / "d/link");
  fs::create_symlink("d/link", folder_ / "link to a link");
  const auto relative = fs::relative(path_, fs::current_path()).string();
  for (const std::string& path :
       {folder_ / "d/link", folder_ / "link to a link", folder_ / "d/back/t.db",
        folder_ / "d/e/../../t.db", folder_ / "./t.db", folder_.path().string() + "//t.db",
        relative}) {
    ASSERT_TRUE(b_.open({.path = path})) << path << ": " << b_.error().message;
    const auto reply = b_.acquire("s2");
    ASSERT_TRUE(reply.has_value()) << path;
    EXPECT_FALSE(reply->ours) << "two leaders by way of " << path;
    b_.destroy();
  }
  EXPECT_FALSE(fs::exists(folder_ / "d/link-lock"));
  EXPECT_FALSE(fs::exists(folder_ / "link to a link-lock"));
}

}  // namespace
}  // namespace tenure::test
