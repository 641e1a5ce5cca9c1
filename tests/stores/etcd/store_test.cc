// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// The store against a member that answers as a script says: what it sends, and what it makes of
// answers that a healthy etcd never gives.
#include "tests/stores/etcd/harness.h"
#include "tests/stores/etcd/rig/fake_member.h"

#include <algorithm>

namespace tenure::test {
namespace {

using namespace std::chrono_literals;

class EtcdStoreTest : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> keys(const std::string& prefix) {
    std::vector<std::string> all;
    for (const auto& entry : fake_.keys(prefix)) all.push_back(entry.key);
    return all;
  }

  FakeMember fake_;
  EtcdClients clients_;
  std::shared_ptr<EtcdStore> store_ = clients_.open(fake_.url());
};

TEST_F(EtcdStoreTest, TheKeyIsTheGoClients) {
  const Record record = clients_.hold(*store_, "job", "s1");
  const auto entries = fake_.keys("job/");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].value, "id of s1");
  EXPECT_NE(entries[0].lease, 0);
  char hex[32];
  (void)std::snprintf(hex, sizeof hex, "job/%llx",
                      static_cast<unsigned long long>(entries[0].lease));
  EXPECT_EQ(entries[0].key, hex);
  EXPECT_EQ(record.token, static_cast<std::uint64_t>(entries[0].create_revision));
}

TEST_F(EtcdStoreTest, OneLeaseServesAllElectionsOfOneTtl) {
  for (int i = 0; i < 20; ++i) (void)clients_.hold(*store_, "e" + std::to_string(i), "s");
  EXPECT_EQ(fake_.calls(Call::grant), 1U);
  AcquireRequest longer = clients_.asking("other", "s", 20s);
  ASSERT_TRUE(clients_.acquire(*store_, longer)->ours);
  EXPECT_EQ(fake_.calls(Call::grant), 2U);
}

TEST_F(EtcdStoreTest, TwoCandidatesOfOneStoreObjectInOneElectionAreTwo) {
  const Record first = clients_.hold(*store_, "e", "s1");
  const auto second = clients_.acquire(*store_, "e", "s2");
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(second->ours);
  EXPECT_EQ(keys("e/").size(), 2U);
  ASSERT_TRUE(clients_.release(*store_, "e", "s1", first.revision)->released);
  EXPECT_GT(clients_.hold(*store_, "e", "s2").token, first.token);
}

TEST_F(EtcdStoreTest, AcquiresOfOneMomentShareTransactions) {
  (void)clients_.hold(*store_, "warm", "s");
  const std::size_t before = fake_.calls(Call::txn);
  std::vector<EtcdClients::Pending<AcquireReply>> answers;
  for (int i = 0; i < 300; ++i) {
    answers.push_back(clients_.begin(*store_, &LeaseStore::acquire,
                                     clients_.asking("e" + std::to_string(i), "s")));
  }
  for (const auto& answer : answers) ASSERT_TRUE(clients_.wait(answer)->ours);
  EXPECT_EQ(fake_.calls(Call::txn) - before, 3U);
}

TEST_F(EtcdStoreTest, RT04_OneKeepaliveAndOneReadServeAllRenewalsOfOneMoment) {
  std::vector<Record> records;
  for (int i = 0; i < 90; ++i) {
    records.push_back(clients_.hold(*store_, "e" + std::to_string(i), "s"));
  }
  const std::size_t keep_alives = fake_.calls(Call::keep_alive);
  const std::size_t txns = fake_.calls(Call::txn);
  const Instant before = clients_.now();
  std::vector<EtcdClients::Pending<RenewReply>> answers;
  for (const Record& record : records) answers.push_back(clients_.begin_renew(*store_, record));
  for (const auto& answer : answers) {
    const auto reply = clients_.wait(answer);
    ASSERT_TRUE(reply && reply->held);
    EXPECT_GE(reply->sent_at, before);
  }
  EXPECT_EQ(fake_.calls(Call::keep_alive) - keep_alives, 1U);
  EXPECT_EQ(fake_.calls(Call::txn) - txns, 1U);
}

TEST_F(EtcdStoreTest, ADeposedLeadersKeepaliveRenewsNothing) {
  const Record record = clients_.hold(*store_, "e", "s");
  fake_.set_term(7);
  fake_.script(Call::keep_alive, {.raft_term = 6});
  const auto refused = clients_.wait(clients_.begin_renew(*store_, record, 400ms));
  ASSERT_FALSE(refused.has_value()) << "the full ttl of a leader whose term is over was believed";
  EXPECT_EQ(refused.error().code, Errc::unavailable);
  fake_.unscript(Call::keep_alive);
  EXPECT_TRUE(clients_.wait(clients_.begin_renew(*store_, record))->held);
}

TEST_F(EtcdStoreTest, CN06_AKeepaliveOfALeaseWithoutOurKeyRenewsNothing) {
  const Record record = clients_.hold(*store_, "e", "s");
  const Record other = clients_.hold(*store_, "other", "s");
  fake_.forget(keys("e/").at(0));
  const auto lost = clients_.begin_renew(*store_, record);
  const auto kept = clients_.begin_renew(*store_, other);
  EXPECT_FALSE(clients_.wait(lost)->held);
  EXPECT_TRUE(clients_.wait(kept)->held) << "one lost key is one election's";
}

TEST_F(EtcdStoreTest, ALeaseThatIsGoneEndsItsTermsAndTheNextOneIsNew) {
  const Record record = clients_.hold(*store_, "e", "s");
  fake_.expire(fake_.keys("e/").at(0).lease);
  EXPECT_FALSE(clients_.wait(clients_.begin_renew(*store_, record))->held);
  EXPECT_GT(clients_.hold(*store_, "e", "s").token, record.token);
  EXPECT_EQ(fake_.calls(Call::grant), 2U);
}

TEST_F(EtcdStoreTest, ST07_AnAcquireWhoseAnswerIsLostIsFoundAgain) {
  (void)clients_.hold(*store_, "warm", "s");
  fake_.script(Call::txn, {.answers = false, .times = 1});
  AcquireRequest request = clients_.asking("e", "s");
  request.limit = clients_.in(300ms);
  const auto lost = clients_.acquire(*store_, request);
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Errc::outcome_unknown);
  const auto entries = fake_.keys("e/");
  ASSERT_EQ(entries.size(), 1U) << "it had taken effect";
  const Record record = clients_.hold(*store_, "e", "s");
  EXPECT_EQ(record.revision, static_cast<std::uint64_t>(entries[0].create_revision));
  EXPECT_EQ(keys("e/").size(), 1U);
}

TEST_F(EtcdStoreTest, ST07_AnAcquireWhoseAnswerIsLostIsCleanedUpByRelease) {
  (void)clients_.hold(*store_, "warm", "s");
  fake_.script(Call::txn, {.answers = false, .times = 1});
  AcquireRequest request = clients_.asking("e", "s");
  request.limit = clients_.in(300ms);
  EXPECT_FALSE(clients_.acquire(*store_, request).has_value());
  EXPECT_TRUE(clients_.release(*store_, "e", "s")->released);
  EXPECT_TRUE(keys("e/").empty());
}

TEST_F(EtcdStoreTest, SB06_AReleaseWhoseAnswerWasLostDoesNotHitTheNextTerm) {
  const Record first = clients_.hold(*store_, "e", "s");
  fake_.script(Call::txn, {.answers = false, .times = 1});
  const auto lost = clients_.wait(clients_.begin(
      *store_, &LeaseStore::release, ReleaseRequest{"e", "s", first.revision, clients_.in(300ms)}));
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, Errc::outcome_unknown);
  const Record second = clients_.hold(*store_, "e", "s");
  EXPECT_GT(second.token, first.token);
  EXPECT_FALSE(clients_.release(*store_, "e", "s", first.revision)->released);
  EXPECT_EQ(keys("e/").size(), 1U);
}

TEST_F(EtcdStoreTest, ATermThatIsNotRenewedEndsThoughItsLeaseIsKeptForAPlaceInLine) {
  fake_.put("line/1", "somebody");
  AcquireRequest request = clients_.asking("line", "s", 1s);
  EXPECT_FALSE(clients_.acquire(*store_, request)->ours);
  request = clients_.asking("held", "s", 1s);
  ASSERT_TRUE(clients_.acquire(*store_, request)->ours);
  clients_.pass(800ms);
  EXPECT_EQ(keys("held/").size(), 1U) << "its ttl still runs";
  EXPECT_TRUE(clients_.pump([&] { return keys("held/").empty(); }, 2s));
  EXPECT_EQ(keys("line/").size(), 2U) << "the place in line is the store's to keep";
  EXPECT_EQ(fake_.calls(Call::grant), 1U);
}

TEST_F(EtcdStoreTest, AFencedWriteTakesEffectOnlyInItsTerm) {
  const Record record = clients_.hold(*store_, "e", "s");
  ASSERT_TRUE(clients_.write(*store_, {"e", record.token, "data", "1"})->done);
  EXPECT_EQ(fake_.keys("data").at(0).value, "1");
  ASSERT_TRUE(store_->fence("e", record.token).has_value());
  EXPECT_EQ(store_->fence("e", record.token)->key, keys("e/").at(0));
  fake_.remove(keys("e/").at(0));
  const auto late = clients_.write(*store_, {"e", record.token, "data", "2"});
  ASSERT_TRUE(late.has_value()) << late.error().message;
  EXPECT_FALSE(late->done) << "SB-08: the term had ended";
  const Record next = clients_.hold(*store_, "e", "s");
  EXPECT_FALSE(clients_.write(*store_, {"e", record.token, "data", "3"})->done);
  ASSERT_TRUE(clients_.write(*store_, {"e", next.token, "data", std::nullopt})->done);
  EXPECT_TRUE(fake_.keys("data").empty());
}

TEST_F(EtcdStoreTest, AFencedWriteIsRefusedWhereItCannotBeMeant) {
  const Record record = clients_.hold(*store_, "e", "s");
  const auto code = [&](EtcdWrite write) { return clients_.write(*store_, write).error().code; };
  EXPECT_EQ(code({"e", record.token + 1, "data", "1"}), Errc::not_found);
  EXPECT_EQ(code({"e", record.token, "", "1"}), Errc::invalid_argument);
  EXPECT_EQ(code({"e", record.token, keys("e/").at(0), "1"}), Errc::invalid_argument);
}

TEST_F(EtcdStoreTest, AForeignKeyStandsInLineAndIsShownToHaveNoEnd) {
  fake_.put("e/anything", "left by hand");
  const auto reply = clients_.acquire(*store_, "e", "s");
  ASSERT_TRUE(reply && reply->record);
  EXPECT_FALSE(reply->ours);
  EXPECT_TRUE(reply->in_line);
  EXPECT_EQ(reply->record->id, "left by hand");
  EXPECT_EQ(reply->record->ttl, kForever);
  fake_.remove("e/anything");
  EXPECT_TRUE(clients_.acquire(*store_, "e", "s")->ours);
}

TEST_F(EtcdStoreTest, KeysOfNestedNamesDoNotCount) {
  fake_.put("e/sub/1", "of e/sub");
  fake_.put("e/sub/2", "of e/sub");
  EXPECT_TRUE(clients_.acquire(*store_, "e", "s")->ours);
  EXPECT_FALSE(clients_.acquire(*store_, "e/sub", "s")->ours);
}

TEST_F(EtcdStoreTest, OurOwnKeyWithoutOurLeaseIsNotOursAndDoesNotBlockTheLine) {
  const Record record = clients_.hold(*store_, "e", "s");
  std::vector<ElectionState> states;
  const auto watch = store_->watch({"e", "s"}, [&](const auto& state) {
    if (state) states.push_back(*state);
  });
  ASSERT_TRUE(clients_.pump([&] { return !states.empty(); }));
  EXPECT_EQ(states.back().holder->session, "s");
  fake_.put(keys("e/").at(0), "overwritten");
  ASSERT_TRUE(clients_.pump([&] { return states.back().holder->session != "s"; }))
      << "a key that no lease ends is nobody's term";
  EXPECT_FALSE(clients_.wait(clients_.begin_renew(*store_, record))->held);
  EXPECT_GT(clients_.hold(*store_, "e", "s").token, record.token);
  EXPECT_NE(fake_.keys("e/").at(0).lease, 0);
}

TEST_F(EtcdStoreTest, UnreachableIsUnavailableByTheLimitAndMendsItself) {
  fake_.stop();
  AcquireRequest request = clients_.asking("e", "s");
  request.limit = clients_.in(300ms);
  const auto reply = clients_.acquire(*store_, request);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, Errc::unavailable) << "nothing was sent";
  EXPECT_NE(reply.error().message.find(fake_.endpoint()), std::string::npos)
      << reply.error().message;
  fake_.start();
  (void)clients_.hold(*store_, "e", "s");
}

TEST_F(EtcdStoreTest, AMemberWithoutALeaderIsNotUsed) {
  FakeMember other;
  fake_.set_leader(false);
  const auto store = clients_.open("etcd://" + fake_.endpoint() + "," + other.endpoint());
  (void)clients_.hold(*store, "e", "s");
  EXPECT_EQ(other.keys("e/").size(), 1U);
  EXPECT_EQ(fake_.calls(Call::txn), 0U);
}

TEST_F(EtcdStoreTest, ATokenThatEndedIsReplacedAndAWrongPasswordIsNotTriedForEver) {
  fake_.require_login("app", "secret");
  EtcdOptions options;
  options.endpoints = {fake_.endpoint()};
  options.user = "app";
  options.password = "secret";
  const auto store = clients_.open(options);
  const Record record = clients_.hold(*store, "e", "s");
  EXPECT_EQ(fake_.calls(Call::authenticate), 1U);
  fake_.end_tokens();
  EXPECT_TRUE(clients_.wait(clients_.begin_renew(*store, record))->held);
  EXPECT_EQ(fake_.calls(Call::authenticate), 2U);

  options.password = "wrong";
  const auto refused = clients_.open(options);
  const auto reply = clients_.acquire(*refused, "e2", "s");
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, Errc::unauthenticated);
  EXPECT_EQ(fake_.calls(Call::authenticate), 3U);
}

TEST_F(EtcdStoreTest, ClosingGivesEmptyLeasesBackAndLeavesOthersToTheirTtl) {
  const Record record = clients_.hold(*store_, "e", "s");
  ASSERT_TRUE(clients_.release(*store_, "e", "s", record.revision)->released);
  clients_.close(*store_);
  EXPECT_EQ(fake_.calls(Call::revoke), 1U);
  const auto holding = clients_.open(fake_.url());
  (void)clients_.hold(*holding, "e", "s");
  clients_.close(*holding);
  EXPECT_EQ(fake_.calls(Call::revoke), 1U);
  EXPECT_EQ(keys("e/").size(), 1U);
}

TEST_F(EtcdStoreTest, WC01_ACutWatchFindsTheRightLeaderAfterCompaction) {
  const auto watcher = clients_.open(fake_.url());
  std::vector<ElectionState> states;
  const auto watch = watcher->watch({"e", {}}, [&](const auto& state) {
    ASSERT_TRUE(state.has_value()) << state.error().message;
    states.push_back(*state);
  });
  ASSERT_TRUE(clients_.pump([&] { return states.size() == 1; }));
  fake_.put("e/1", "first");
  ASSERT_TRUE(clients_.pump([&] { return states.back().holder.has_value(); }));
  fake_.hold_events(true);
  fake_.remove("e/1");
  for (int i = 0; i < 1000; ++i) fake_.put("noise", std::to_string(i));
  fake_.put("e/2", "second");
  fake_.compact(fake_.revision());
  fake_.stop();
  fake_.hold_events(false);
  fake_.start();
  EXPECT_TRUE(
      clients_.pump([&] { return states.back().holder && states.back().holder->id == "second"; }));
}

}  // namespace
}  // namespace tenure::test
