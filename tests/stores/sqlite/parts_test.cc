// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/sqlite/environment.h"
#include "stores/sqlite/errors.h"
#include "stores/sqlite/schema.h"
#include "stores/sqlite/session_lock.h"
#include "stores/sqlite/strand.h"
#include "stores/sqlite/watch_hub.h"
#include "tests/support/temp_dir.h"

#include <tenure/testkit/manual_executor.h>

#include <sqlite3.h>

#include <cerrno>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenure::sqlite {
namespace {

TEST(SqliteErrors, SayWhatToDoNext) {
  EXPECT_EQ(classify(SQLITE_BUSY, Phase::working), Errc::unavailable);
  EXPECT_EQ(classify(SQLITE_FULL, Phase::commit), Errc::unavailable);
  EXPECT_EQ(classify(SQLITE_IOERR_WRITE, Phase::working), Errc::unavailable);
  EXPECT_EQ(classify(SQLITE_IOERR_FSYNC, Phase::commit), Errc::outcome_unknown);
  EXPECT_EQ(classify(SQLITE_IOERR_WRITE, Phase::commit), Errc::outcome_unknown);
  EXPECT_EQ(classify(SQLITE_READONLY_DBMOVED, Phase::working), Errc::permission_denied);
  EXPECT_EQ(classify(SQLITE_NOTADB, Phase::opening), Errc::corrupt);
  EXPECT_EQ(classify(SQLITE_CORRUPT_INDEX, Phase::working), Errc::corrupt);
  EXPECT_EQ(make_system_error(ENOSPC, "write", "/p").code, Errc::unavailable);
  EXPECT_EQ(make_system_error(EROFS, "write", "/p").code, Errc::permission_denied);
  EXPECT_EQ(make_system_error(ENOENT, "write", "/p").message,
            "cannot write /p: No such file or directory");
}

TEST(SqliteEnvironment, KnowsAShiftedBootClock) {
  EXPECT_FALSE(boot_clock_is_shifted(""));
  EXPECT_FALSE(boot_clock_is_shifted("monotonic           0         0\nboottime   0   0\n"));
  EXPECT_TRUE(boot_clock_is_shifted("monotonic           0         0\nboottime   1000  0\n"));
  EXPECT_TRUE(boot_clock_is_shifted("boottime   0  -5\n"));
  EXPECT_FALSE(boot_clock_is_shifted("monotonic           7         0\nboottime   0   0\n"));
}

TEST(SqliteEnvironment, RefusesFileSystemsThatMachinesShare) {
  // As statfs gives them where its type is a signed 32-bit number, too.
  for (const std::int64_t shared : {0x6969LL, 0xFF534D42LL, -11317950LL, 0x65735546LL, 0x01021997LL,
                                    0x00C36400LL, 0x0BD00BD0LL}) {
    const auto checked = check_file_system(shared, "/p");
    ASSERT_FALSE(checked.has_value()) << shared;
    EXPECT_EQ(checked.error().code, Errc::unsupported);
  }
  for (const std::int64_t local :
       {0xEF53LL, 0x58465342LL, 0x9123683ELL, 0x01021994LL, 0x794C7630LL}) {
    EXPECT_TRUE(check_file_system(local, "/p").has_value()) << local;
  }
}

TEST(SqliteEnvironment, OfThisMachineIsComplete) {
  const auto environment = read_environment();
  ASSERT_TRUE(environment.has_value()) << environment.error().message;
  EXPECT_EQ(environment->boot_id.size(), 36U);
  EXPECT_TRUE(environment->file_system_type("/").has_value());
  EXPECT_FALSE(environment->file_system_type("/nowhere/at/all").has_value());
}

TEST(SqliteSchema, AcceptsOnlyItsOwnHeader) {
  const auto image = new_database_image();
  ASSERT_TRUE(image.has_value()) << image.error().message;
  auto bytes = *image;
  EXPECT_TRUE(check_header(bytes.data(), bytes.size(), "p").has_value());
  EXPECT_FALSE(check_header(bytes.data(), 99, "p").has_value());
  for (const std::size_t at : {std::size_t{0}, std::size_t{15}, std::size_t{68}, std::size_t{63}}) {
    auto changed = bytes;
    changed[at] ^= 0x40;
    EXPECT_FALSE(check_header(changed.data(), changed.size(), "p").has_value()) << at;
  }
}

class SessionLocks : public testing::Test {
 protected:
  std::unique_ptr<SessionLock> take(std::uint64_t seed) {
    auto lock = SessionLock::take(path_, path_, [seed]() mutable { return seed++; });
    EXPECT_TRUE(lock.has_value()) << lock.error().message;
    return std::move(*lock);
  }

  test::TempDir folder_;
  std::string path_ = folder_ / "t.db-lock";
};

TEST_F(SessionLocks, TellTheLivingFromTheDead) {
  const auto ours = take(1);
  auto theirs = take(1);
  EXPECT_NE(ours->place(), theirs->place()) << "the same random number, but not the same byte";
  const LockPlace place = theirs->place();
  EXPECT_EQ(ours->pulse(place), Pulse::alive);
  EXPECT_EQ(ours->pulse(ours->place()), Pulse::alive);
  theirs.reset();
  EXPECT_EQ(ours->pulse(place), Pulse::dead);
}

TEST_F(SessionLocks, SayNothingOfAnotherFile) {
  auto old = take(1);
  const LockPlace place = old->place();
  ASSERT_TRUE(std::filesystem::remove(path_));
  EXPECT_TRUE(old->is_replaced());
  const auto fresh = take(1);
  EXPECT_FALSE(fresh->is_replaced());
  EXPECT_EQ(fresh->pulse(place), Pulse::unknown);
  old.reset();
  EXPECT_EQ(fresh->pulse(place), Pulse::unknown);
}

TEST_F(SessionLocks, CanBeLookedAtWithoutTakingOne) {
  const auto early = SessionLock::look(path_);
  EXPECT_FALSE(std::filesystem::exists(path_));
  const auto session = take(5);
  EXPECT_EQ(early->pulse(session->place()), Pulse::unknown);
  EXPECT_TRUE(early->is_replaced());
  const auto late = SessionLock::look(path_);
  EXPECT_EQ(late->pulse(session->place()), Pulse::alive);
  EXPECT_EQ(late->fd(), -1);
}

TEST_F(SessionLocks, AreUndoneOnlyByTheirMakerAndOnlyWhileNobodyElseUsesThem) {
  const auto made = take(1);
  auto met = take(2);
  made->remove_if_new();
  EXPECT_FALSE(made->is_replaced()) << "somebody else had locked a byte of it";
  met->remove_if_new();
  EXPECT_FALSE(met->is_replaced()) << "it was not this one that made it";
  met.reset();
  made->remove_if_new();
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(made->is_replaced()) << "who had it open all the same finds out";
  const auto next = take(3);
  made->remove_if_new();
  EXPECT_FALSE(next->is_replaced()) << "another file by the same name is not its own";
}

TEST_F(SessionLocks, GiveTheRightOfCreationToOne) {
  const auto ours = take(1);
  const auto theirs = take(2);
  EXPECT_TRUE(ours->try_lock_creation());
  EXPECT_FALSE(theirs->try_lock_creation());
  ours->unlock_creation();
  EXPECT_TRUE(theirs->try_lock_creation());
}

TEST(SqliteStrand, RunsJobsInOrderHoweverManyThereAre) {
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  const auto strand = std::make_shared<Strand>(executor);
  std::vector<int> ran;
  for (int i = 0; i < 100; ++i) strand->run([&ran, i] { ran.push_back(i); });
  EXPECT_EQ(executor.blocking_count(), 1U) << "one at a time";
  strand->run([&] { strand->run([&ran] { ran.push_back(-1); }); });
  executor.run_until_idle();
  ASSERT_EQ(ran.size(), 101U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
}

TEST(SqliteStrand, GivesWayToOthersWhenAJobAsksForIt) {
  testkit::ManualClock clock;
  testkit::ManualExecutor executor(clock);
  const auto strand = std::make_shared<Strand>(executor);
  std::string order;
  strand->run([&] {
    order += "a";
    strand->give_way();
  });
  strand->run([&] { order += "c"; });
  executor.run_blocking([&] { order += "b"; });
  executor.run_until_idle();
  EXPECT_EQ(order, "abc");
}

ElectionState state_of(const std::string& election, std::uint64_t as_of) {
  ElectionState state;
  state.election = election;
  state.as_of = as_of;
  return state;
}

TEST(SqliteWatchHub, GivesThePresentFirstThenChangesOfItsElectionOnly) {
  const auto hub = std::make_shared<WatchHub>();
  std::vector<ElectionState> seen;
  const auto watch = hub->add({"b"}, [&](Result<ElectionState> state) { seen.push_back(*state); });
  hub->deliver({.as_of = 1, .changed = {state_of("b", 1)}});
  EXPECT_TRUE(seen.empty()) << "a change before the present state";
  ASSERT_TRUE(hub->begin_priming());
  hub->deliver({.as_of = 2, .present = {state_of("a", 2), state_of("b", 2)}, .has_present = true});
  hub->deliver({.as_of = 3, .changed = {state_of("a", 3), state_of("b", 3)}});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], state_of("b", 2));
  EXPECT_EQ(seen[1], state_of("b", 3));
  EXPECT_FALSE(hub->begin_priming());
}

TEST(SqliteWatchHub, LetsACallbackEndItsOwnWatchAndOthers) {
  const auto hub = std::make_shared<WatchHub>();
  std::unique_ptr<Watch> first;
  std::unique_ptr<Watch> second;
  int calls = 0;
  const auto end_both = [&](const Result<ElectionState>&) {
    ++calls;
    first.reset();
    second.reset();
  };
  first = hub->add({"e"}, end_both);
  second = hub->add({"e"}, end_both);
  ASSERT_TRUE(hub->begin_priming());
  hub->deliver({.has_present = true});
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(hub->empty());
}

}  // namespace
}  // namespace tenure::sqlite
