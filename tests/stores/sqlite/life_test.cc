// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/stores/sqlite/database.h"
#include "tests/stores/sqlite/faulty_vfs.h"
#include "tests/stores/sqlite/script.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_dir.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::ptrdiff_t open_descriptors() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), {});
}

// Several stores on one file in one process, without waiting for anything.
class Life : public testing::Test {
 protected:
  TempDir folder_;
  std::string path_ = folder_ / "t.db";
  testkit::ManualClock clock_;
  testkit::ManualExecutor executor_{clock_};
  Asker a_{executor_};
  Asker b_{executor_};
};

TEST_F(Life, AStoreThatEndsWithoutReleasingLeavesItsRecordToTheTtl) {
  ASSERT_TRUE(a_.open({.path = path_}));
  ASSERT_TRUE(b_.open({.path = path_}));
  const auto held = a_.acquire("s1");
  ASSERT_TRUE(held && held->ours);
  a_.destroy();
  EXPECT_FALSE(b_.acquire("s2")->ours) << "the kernel lock was freed before the ttl";
  clock_.advance(kTtl - Duration(1));
  EXPECT_FALSE(b_.acquire("s2")->ours);
  clock_.advance(Duration(1));
  EXPECT_TRUE(b_.acquire("s2")->ours);
}

TEST_F(Life, StoresThatComeAndGoLeaveNoMoreThanOneOfThem) {
  ASSERT_TRUE(b_.open({.path = path_}));
  std::ptrdiff_t after_the_first = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(a_.open({.path = path_}));
    const std::string number = std::to_string(i);
    ASSERT_TRUE(a_.acquire("s" + number, "e" + number)->ours);
    a_.destroy();
    if (i == 0) after_the_first = open_descriptors();
  }
  EXPECT_EQ(open_descriptors(), after_the_first);
  EXPECT_FALSE(b_.acquire("another", "e0")->ours) << "each record is left to its ttl";
}

TEST_F(Life, ALockFileThatWasReplacedMakesNobodyDead) {
  ASSERT_TRUE(a_.open({.path = path_}));
  const auto held = a_.acquire("s1");
  ASSERT_TRUE(held && held->ours);
  ASSERT_TRUE(fs::remove(path_ + "-lock"));
  ASSERT_TRUE(b_.open({.path = path_}));
  EXPECT_FALSE(b_.acquire("s2")->ours) << "a live holder was judged dead";
  EXPECT_TRUE(a_.renew(*held->record)->held);
  EXPECT_TRUE(a_.release(*held->record)->released);
  EXPECT_TRUE(b_.acquire("s2")->ours);
}

TEST_F(Life, ADatabaseThatWasReplacedIsFoundAndTheOldTermIsOver) {
  ASSERT_TRUE(a_.open({.path = path_}));
  const auto held = a_.acquire("s1");
  ASSERT_TRUE(held && held->ours);
  std::vector<ElectionState> seen;
  const auto watch =
      a_.store().watch({"e"}, [&](Result<ElectionState> state) { seen.push_back(*state); });
  executor_.run_until_idle();
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path_ + suffix);
  executor_.advance(seconds(2));
  ASSERT_FALSE(seen.empty());
  EXPECT_FALSE(seen.back().holder.has_value());
  EXPECT_GE(seen.back().as_of, held->record->revision) << "the holder would not believe it";
  const auto renewed = a_.renew(*held->record);
  ASSERT_TRUE(renewed.has_value()) << renewed.error().message;
  EXPECT_FALSE(renewed->held);
}

TEST_F(Life, TokensGoOnAfterRowsWereDeletedByHand) {
  ASSERT_TRUE(a_.open({.path = path_}));
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto held = a_.acquire("s" + std::to_string(i));
    ASSERT_TRUE(held && held->ours);
    EXPECT_GT(held->record->token, last);
    last = held->record->token;
    Database(path_).run("DELETE FROM election");
  }
}

TEST_F(Life, CK02_AJumpOfTheBootClockEndsEveryTerm) {
  ASSERT_TRUE(a_.open({.path = path_}));
  const auto held = a_.acquire("s1");
  ASSERT_TRUE(held && held->ours);
  clock_.advance(10 * kTtl);
  EXPECT_FALSE(a_.list()->front().holder.has_value());
  EXPECT_FALSE(a_.renew(*held->record)->held) << "a term was revived";
}

TEST_F(Life, ATtlWithoutEndIsKept) {
  ASSERT_TRUE(a_.open({.path = path_}));
  const auto held = a_.acquire("s1", "e", kForever);
  ASSERT_TRUE(held && held->ours);
  EXPECT_EQ(held->record->expires_at, kNever);
  clock_.advance(std::chrono::hours(24 * 365 * 100));
  EXPECT_TRUE(a_.renew(*held->record, kForever)->held);
}

TEST_F(Life, RT04_RenewalsWakeNobodyElse) {
  ASSERT_TRUE(a_.open({.path = path_}));
  ASSERT_TRUE(b_.open({.path = path_}));
  const auto held = a_.acquire("s1");
  int states = 0;
  const auto watch = b_.store().watch({"e"}, [&](const Result<ElectionState>&) { ++states; });
  executor_.run_until_idle();
  ASSERT_EQ(states, 1);
  for (int i = 0; i < 5; ++i) {
    clock_.advance(milliseconds(1));
    ASSERT_TRUE(a_.renew(*held->record)->held);
    EXPECT_EQ(executor_.run_until_idle(), 0U) << "a renewal rang the bell";
  }
  EXPECT_EQ(states, 1);
  ASSERT_TRUE(a_.release(*held->record)->released);
  EXPECT_TRUE(executor_.wait_until([&] { return states == 2; }, kPatience));
}

TEST_F(Life, RT04_RenewalsThatArePendingTogetherShareOneTransaction) {
  constexpr int kElections = 100;
  ASSERT_TRUE(a_.open({.path = path_}));
  a_.destroy();
  FaultyVfs vfs;
  ASSERT_TRUE(a_.open({.path = path_, .vfs = vfs.name()}));
  std::vector<Record> held;
  for (int i = 0; i < kElections; ++i) {
    held.push_back(*a_.acquire("s", "election " + std::to_string(i))->record);
  }
  vfs.fail_at(0, SQLITE_OK, false);
  clock_.advance(milliseconds(1));
  ASSERT_TRUE(a_.renew(held.front())->held);
  const auto for_one = vfs.calls();
  vfs.fail_at(0, SQLITE_OK, false);
  clock_.advance(milliseconds(1));
  std::vector<Instant> sent;
  for (const Record& record : held) {
    a_.store().renew({record, kTtl, kNever}, [&](Result<RenewReply> reply) {
      ASSERT_TRUE(reply && reply->held);
      sent.push_back(reply->sent_at);
    });
  }
  executor_.run_until_idle();
  ASSERT_EQ(sent.size(), held.size());
  EXPECT_LT(vfs.calls(), for_one * 10) << "one renewal took " << for_one << " calls of the disk";
  a_.destroy();
}

// In the kernel a dying process's descriptor is seen to close before its lock is gone.
TEST_F(Life, ALockThatGoesShortlyAfterAStoreWasClosedIsNoticedSoon) {
  ASSERT_TRUE(a_.open({.path = path_}));
  ASSERT_TRUE(b_.open({.path = path_}));
  ASSERT_TRUE(a_.acquire("s1")->ours);
  std::vector<ElectionState> seen;
  const auto watch =
      b_.store().watch({"e"}, [&](Result<ElectionState> state) { seen.push_back(*state); });
  executor_.run_until_idle();
  ::close(::open((path_ + "-lock").c_str(), O_RDWR | O_CLOEXEC));
  executor_.run_until_idle();
  ASSERT_TRUE(seen.back().holder.has_value());
  struct flock all {};
  all.l_type = F_UNLCK;
  all.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(a_.store().inherited_fd(), F_OFD_SETLK, &all), 0);
  executor_.advance(milliseconds(100));
  EXPECT_FALSE(seen.back().holder.has_value());
}

TEST_F(Life, AWatchThatMayCreateNothingWaitsForTheDatabase) {
  ASSERT_TRUE(a_.open({.path = path_, .create = false})) << a_.error().message;
  EXPECT_TRUE(a_.list()->empty());
  const auto refused = a_.acquire("s1");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::not_found);
  std::vector<ElectionState> seen;
  const auto watch =
      a_.store().watch({"e"}, [&](Result<ElectionState> state) { seen.push_back(*state); });
  executor_.run_until_idle();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_FALSE(seen.back().holder.has_value());
  EXPECT_TRUE(fs::is_empty(folder_.path())) << "something was created";
  ASSERT_TRUE(b_.open({.path = path_}));
  ASSERT_TRUE(b_.acquire("s1")->ours);
  executor_.advance(seconds(2));
  ASSERT_TRUE(seen.back().holder.has_value());
  EXPECT_EQ(seen.back().holder->session, "s1");
  // From here on it hears of changes at once.
  ASSERT_TRUE(b_.release(*seen.back().holder)->released);
  EXPECT_TRUE(executor_.wait_until([&] { return !seen.back().holder; }, kPatience));
}

TEST_F(Life, ADatabaseThatWasDamagedMeanwhileEndsTheWatchWithAnError) {
  ASSERT_TRUE(a_.open({.path = path_}));
  std::optional<Error> end;
  const auto watch = a_.store().watch({"e"}, [&](Result<ElectionState> state) {
    if (!state) end = state.error();
  });
  executor_.run_until_idle();
  Database(path_).run("DROP TABLE election");
  executor_.advance(seconds(2));
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->code, Errc::corrupt) << end->message;
}

// SQLite has it mapped: whoever looks beyond its end is killed.
TEST_F(Life, AnIndexThatWasCutOffKillsNobody) {
  ASSERT_TRUE(a_.open({.path = path_}));
  ASSERT_TRUE(b_.open({.path = path_}));
  const auto held = a_.acquire("s1");
  ASSERT_TRUE(held && held->ours);
  for (const std::uintmax_t size : {0U, 100U, 5000U}) {
    fs::resize_file(path_ + "-shm", size);
    clock_.advance(seconds(1));
    EXPECT_TRUE(a_.renew(*held->record)->held);
    EXPECT_FALSE(b_.acquire("s2")->ours);
    fs::resize_file(path_ + "-shm", size);
    EXPECT_EQ(b_.list()->front().holder->session, "s1");
  }
  fs::resize_file(path_ + "-shm", 0);
  EXPECT_TRUE(a_.release(*held->record)->released);
  EXPECT_TRUE(b_.acquire("s2")->ours);
  EXPECT_EQ(Database(path_).run("PRAGMA integrity_check"), "ok");
}

TEST_F(Life, TheLogDoesNotGrowWithoutEnd) {
  ASSERT_TRUE(a_.open({.path = path_}));
  const auto held = a_.acquire("s1");
  for (int i = 0; i < 2000; ++i) {
    clock_.advance(milliseconds(1));
    ASSERT_TRUE(a_.renew(*held->record)->held);
  }
  EXPECT_LT(fs::file_size(path_ + "-wal"), 400'000U);
}

TEST_F(Life, ALogThatCannotBeginAgainDoesNotMakeEveryWriteACheckpoint) {
  ASSERT_TRUE(a_.open({.path = path_}));
  a_.destroy();
  FaultyVfs vfs;
  ASSERT_TRUE(a_.open({.path = path_, .vfs = vfs.name()}));
  const auto held = a_.acquire("s1");
  Database readers[] = {Database(path_), Database(path_)};
  const auto calls_of_renewals = [&](bool with_readers) {
    vfs.fail_at(0, SQLITE_OK, false);
    for (int i = 0; i < 500; ++i) {
      // There is always one who reads what is not in the database yet.
      if (with_readers) readers[i % 2].run("BEGIN; SELECT count(*) FROM election");
      if (with_readers && i > 0) readers[1 - i % 2].run("COMMIT");
      clock_.advance(milliseconds(1));
      EXPECT_TRUE(a_.renew(*held->record)->held);
    }
    return vfs.calls();
  };
  const auto usual = calls_of_renewals(false);
  EXPECT_LT(calls_of_renewals(true), usual * 5 / 4);
  a_.destroy();
}

}  // namespace
}  // namespace tenure::test
