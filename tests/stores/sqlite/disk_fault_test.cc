// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/database.h"
#include "tests/stores/sqlite/faulty_vfs.h"
#include "tests/stores/sqlite/script.h"
#include "tests/support/temp_dir.h"

#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <string>

namespace tenure::test {
namespace {

struct Fault {
  const char* name;
  int result;
  bool for_ever;
};

class DiskFault : public testing::TestWithParam<Fault> {
 protected:
  // What a candidate does in its life. Every answer must be one that the contract allows, and
  // "unavailable" must mean that nothing was changed.
  void run_script(Asker& asker) {
    for (int round = 0; round < 3; ++round) {
      const std::string session = "s" + std::to_string(round);
      const auto acquired = asker.acquire(session);
      allow(acquired);
      if (!acquired) continue;
      if (!acquired->ours) continue;
      EXPECT_GT(acquired->record->token, last_token_);
      last_token_ = acquired->record->token;
      const auto renewed = asker.renew(*acquired->record);
      allow(renewed);
      if (renewed) {
        EXPECT_TRUE(renewed->held);
      }
      const auto released = asker.release(*acquired->record);
      allow(released);
      if (released) {
        EXPECT_TRUE(released->released);
      }
      allow(asker.list());
    }
  }

  template <class T>
  static void allow(const Result<T>& reply) {
    if (reply) return;
    EXPECT_TRUE(reply.error().code == Errc::unavailable ||
                reply.error().code == Errc::outcome_unknown)
        << to_string(reply.error().code) << ": " << reply.error().message;
    EXPECT_FALSE(reply.error().message.empty());
  }

  FaultyVfs vfs_;
  testkit::ManualClock clock_;
  testkit::ManualExecutor executor_{clock_};
  std::uint64_t last_token_ = 0;
};

TEST_P(DiskFault, AtAnyCallCostsAnAnswerAtMost) {
  const Fault fault = GetParam();
  bool has_failed = true;
  int failures = 0;
  for (std::uint64_t call = 1; has_failed; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const TempDir folder;
    const std::string path = folder / "t.db";
    last_token_ = 0;
    Asker asker(executor_);
    ASSERT_TRUE(asker.open({.path = path}));
    asker.destroy();
    vfs_.fail_at(call, fault.result, fault.for_ever);
    if (asker.open({.path = path, .vfs = vfs_.name()})) {
      run_script(asker);
    } else {
      EXPECT_EQ(asker.error().code, Errc::unavailable) << asker.error().message;
    }
    has_failed = vfs_.has_failed();
    if (has_failed) ++failures;
    // The same store goes on when the disk does...
    vfs_.fail_at(0, SQLITE_OK, false);
    if (!asker.error().message.empty()) {
      ASSERT_TRUE(asker.open({.path = path, .vfs = vfs_.name()}));
    }
    clock_.advance(kTtl);
    const auto last = asker.acquire("the last");
    ASSERT_TRUE(last && last->ours) << last.error().message;
    EXPECT_GT(last->record->token, last_token_);
    asker.destroy();
    // ... and what it leaves is whole.
    EXPECT_EQ(Database(path).run("PRAGMA integrity_check"), "ok");
  }
  EXPECT_GT(failures, 30) << "the faults did not hit what was meant";
}

TEST_P(DiskFault, AtAnyCallOfACreationLeavesWhatTheNextWhoComesCanUse) {
  const Fault fault = GetParam();
  bool has_failed = true;
  int failures = 0;
  for (std::uint64_t call = 1; has_failed; ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const TempDir folder;
    const std::string path =
        call % 2 == 0 ? folder.write("t.db", std::string()) : std::string(folder / "t.db");
    vfs_.fail_at(call, fault.result, fault.for_ever);
    Asker asker(executor_);
    if (!asker.open({.path = path, .vfs = vfs_.name()})) {
      EXPECT_EQ(asker.error().code, Errc::unavailable) << asker.error().message;
    }
    has_failed = vfs_.has_failed();
    if (has_failed) ++failures;
    vfs_.fail_at(0, SQLITE_OK, false);
    asker.destroy();
    ASSERT_TRUE(asker.open({.path = path, .vfs = vfs_.name()})) << asker.error().message;
    EXPECT_TRUE(asker.acquire("s1")->ours);
    asker.destroy();
    EXPECT_EQ(Database(path).run("PRAGMA integrity_check"), "ok");
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      const std::string name = entry.path().filename();
      EXPECT_TRUE(name == "t.db" || name == "t.db-lock") << name;
    }
  }
  EXPECT_GT(failures, 8) << "the faults did not hit what was meant";
}

INSTANTIATE_TEST_SUITE_P(Sqlite, DiskFault,
                         testing::Values(Fault{"once", SQLITE_IOERR_WRITE, false},
                                         Fault{"for_ever", SQLITE_IOERR_WRITE, true},
                                         Fault{"full_once", SQLITE_FULL, false},
                                         Fault{"full_for_ever", SQLITE_FULL, true}),
                         [](const auto& each) { return std::string(each.param.name); });

// A small file system of its own, where this process may mount one.
class SmallDisk {
 public:
  SmallDisk() {
    is_mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=256k") == 0;
  }
  ~SmallDisk() {
    if (is_mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool is_mounted() const { return is_mounted_; }
  [[nodiscard]] std::string operator/(std::string_view name) const { return folder_ / name; }
  void fill() const {
    std::ofstream file(folder_ / "filler");
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  void empty() const { std::remove((folder_ / "filler").c_str()); }

 private:
  TempDir folder_;
  bool is_mounted_ = false;
};

TEST(FullDisk, CostsTheTermNotTheProcess) {
  const SmallDisk disk;
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "cannot mount a tmpfs here (" << std::strerror(errno)
                 << "); DiskFault plays the full disk without one";
  }
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  Asker asker(executor);
  ASSERT_TRUE(asker.open({.path = disk / "t.db"})) << asker.error().message;
  const auto held = asker.acquire("s1");
  ASSERT_TRUE(held && held->ours);
  disk.fill();
  std::optional<Error> failed;
  for (int i = 0; i < 200 && !failed; ++i) {
    clock.advance(std::chrono::milliseconds(1));  // The same bytes again would not be written.
    if (auto renewed = asker.renew(*held->record); !renewed) failed = renewed.error();
  }
  ASSERT_TRUE(failed.has_value()) << "the disk was never full";
  EXPECT_EQ(failed->code, Errc::unavailable) << failed->message;
  EXPECT_EQ(asker.list()->size(), 1U) << "reading goes on";
  clock.advance(kTtl);
  disk.empty();
  const auto next = asker.acquire("s2");
  ASSERT_TRUE(next && next->ours) << next.error().message;
  EXPECT_GT(next->record->token, held->record->token);
}

TEST(FullDisk, HasNoRoomForADatabaseAndSaysSo) {
  const SmallDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "cannot mount a tmpfs here: " << std::strerror(errno);
  disk.fill();
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  Asker asker(executor);
  ASSERT_FALSE(asker.open({.path = disk / "t.db"}));
  EXPECT_EQ(asker.error().code, Errc::unavailable) << asker.error().message;
  EXPECT_NE(asker.error().message.find("No space left"), std::string::npos);
  EXPECT_EQ(disk.names(), std::set<std::string>{"filler"}) << "something was left";
  // An empty file that is there already stays as it is, and alone.
  std::ofstream(disk / "t.db").flush();
  ASSERT_FALSE(asker.open({.path = disk / "t.db"}));
  EXPECT_EQ(disk.names(), (std::set<std::string>{"filler", "t.db"}));
  EXPECT_EQ(std::filesystem::file_size(disk / "t.db"), 0U);
  disk.empty();
  EXPECT_TRUE(asker.open({.path = disk / "t.db"})) << asker.error().message;
}

}  // namespace
}  // namespace tenure::test
