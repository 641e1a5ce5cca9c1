// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/report.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

namespace tenure::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant kNow{seconds(1000)};
const WallTime kWall{milliseconds(1'790'000'000'123)};

ElectionState held(const std::string& name, const std::string& id, std::uint64_t token) {
  Record record;
  record.election = name;
  record.id = id;
  record.session = "s" + std::to_string(token);
  record.revision = token;
  record.token = token;
  record.ttl = seconds(15);
  record.acquired_at = kNow - seconds(125);
  record.expires_at = kNow + milliseconds(9876);
  return {name, record, token, true};
}

ElectionState free_election(const std::string& name) { return {name, std::nullopt, 9, true}; }

TEST(StatusJson, IsAnArrayOfWhatIsDocumented) {
  EXPECT_EQ(status_json({}, kNow), "[]\n");
  EXPECT_EQ(status_json({held("billing", "web-1:42", 7), free_election("nightly")}, kNow),
            R"([{"name":"billing","holder":"web-1:42","session":"s7","token":7,"ttl_ms":15000,)"
            R"("held_for_ms":125000,"expires_in_ms":9876},)"
            R"({"name":"nightly","holder":null,"session":null,"token":null,"ttl_ms":null,)"
            R"("held_for_ms":null,"expires_in_ms":null}])"
            "\n");
}

TEST(StatusJson, UnknownTimesAreNullAndBadBytesAreReplaced) {
  ElectionState state = held("x", "bad\xff\"quote", 1);
  state.holder->acquired_at = kLongAgo;
  state.holder->expires_at = kNever;
  const std::string text = status_json({state}, kNow);
  EXPECT_NE(text.find(R"("held_for_ms":null,"expires_in_ms":null)"), std::string::npos) << text;
  EXPECT_NE(text.find("bad\xEF\xBF\xBD\\\"quote"), std::string::npos) << text;
}

TEST(StatusTable, AlignsColumns) {
  EXPECT_EQ(status_table({held("b\xC3\xBC", "h:1", 7), free_election("nightly")}, kNow),
            "NAME     HOLDER  TOKEN  HELD FOR  EXPIRES IN\n"
            "b\xC3\xBC       h:1     7      2m 5s     9.8s\n"
            "nightly  (free)  -      -         -\n");
}

TEST(ChangeLog, SaysWhatChangedAndOnlyThat) {
  ChangeLog log;
  log.expect("a");
  const auto present = log.note(held("a", "h:1", 1), kWall);
  ASSERT_TRUE(present);
  EXPECT_EQ(present->event, "elected");
  EXPECT_EQ(present->reason, "present state");
  EXPECT_FALSE(log.note(held("a", "h:1", 1), kWall)) << "a renewal is no change";

  const auto changed = log.note(held("a", "h:2", 2), kWall);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->event, "changed");
  EXPECT_EQ(changed->holder, "h:2");
  EXPECT_EQ(changed->reason, "term 1 of h:1 ended");

  const auto vacant = log.note(free_election("a"), kWall);
  ASSERT_TRUE(vacant);
  EXPECT_EQ(vacant->event, "vacant");
  EXPECT_FALSE(vacant->holder);
  EXPECT_FALSE(log.note(free_election("a"), kWall));

  const auto elected = log.note(held("a", "h:2", 3), kWall);
  ASSERT_TRUE(elected);
  EXPECT_EQ(elected->event, "elected");
  EXPECT_EQ(elected->reason, "");
}

TEST(ChangeLog, OnlyWhatWasThereWhenTheWatchBeganIsPresentState) {
  ChangeLog log;
  log.expect("a");
  EXPECT_EQ(log.note(free_election("a"), kWall)->reason, "present state");
  const auto born = log.note(held("b", "h:1", 1), kWall);
  ASSERT_TRUE(born);
  EXPECT_EQ(born->event, "elected");
  EXPECT_EQ(born->reason, "");
}

TEST(ChangeLog, TheSameIdWithANewTermIsAChange) {
  ChangeLog log;
  ASSERT_TRUE(log.note(held("a", "same", 1), kWall));
  const auto changed = log.note(held("a", "same", 2), kWall);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->event, "changed");
}

TEST(ChangeText, HasTheDocumentedForm) {
  const Change change{kWall, "a", "elected", "h:1", 7, ""};
  EXPECT_EQ(change_json(change),
            R"({"time":"2026-09-21T14:13:20.123Z","name":"a","event":"elected","holder":"h:1",)"
            R"("token":7,"reason":null})"
            "\n");
  EXPECT_EQ(change_line(change), "2026-09-21T14:13:20.123Z  a  elected  h:1  token 7\n");
  EXPECT_EQ(change_line({kWall, "a", "vacant", {}, {}, "term 7 of h:1 ended"}),
            "2026-09-21T14:13:20.123Z  a  vacant  (term 7 of h:1 ended)\n");
}

TEST(ForPeople, NamesAndIdsCannotActOnATerminal) {
  const std::string evil =
      "\x1B[2J\xE2\x80\xAE"
      "a\n";
  const std::string table = status_table({held(evil, evil, 1)}, Instant{});
  const std::string line = change_line({kWall, evil, "elected", evil, 7, "term 1 of " + evil});
  for (const std::string& text : {table, line}) {
    EXPECT_EQ(text.find('\x1B'), std::string::npos) << text;
    EXPECT_EQ(text.find("\xE2\x80\xAE"), std::string::npos) << text;
    EXPECT_NE(text.find("\\x1b[2J\\u202ea\\x0a"), std::string::npos) << text;
  }
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
}

}  // namespace
}  // namespace tenure::cli
