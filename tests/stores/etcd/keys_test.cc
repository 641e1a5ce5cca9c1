// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/etcd/keys.h"

#include <chrono>
#include <gtest/gtest.h>
#include <limits>

namespace tenure::etcd {
namespace {

using namespace std::chrono_literals;

KeyValue member(std::string key, Revision created, LeaseId lease, std::string value = "v") {
  return {std::move(key), std::move(value), created, created, lease};
}

TEST(EtcdKeys, LeaseIdsAreLowerCaseHexWithoutPadding) {
  EXPECT_EQ(to_hex(0x694D81417ACD4A0FLL), "694d81417acd4a0f");
  EXPECT_EQ(to_hex(10), "a");
  EXPECT_EQ(to_hex(-7), "-7");
  EXPECT_EQ(election_prefix("app/", "job"), "app/job/");
}

TEST(EtcdKeys, ARangeEndsAfterItsPrefix) {
  EXPECT_EQ(end_of_prefix("e/"), "e0");
  EXPECT_EQ(end_of_prefix("a\xFF"), "b");
  EXPECT_EQ(end_of_prefix("\xFF\xFF"), std::string(1, '\0'));
  EXPECT_EQ(end_of_prefix(""), std::string(1, '\0'));
}

TEST(EtcdKeys, OnlyDirectChildrenAreMembers) {
  EXPECT_TRUE(is_member("a/", "a/123"));
  EXPECT_TRUE(is_member("a/", "a/foreign")) << "a Go client would stand behind it";
  EXPECT_FALSE(is_member("a/", "a/b/123")) << "of election a/b";
  EXPECT_FALSE(is_member("a/", "a/"));
  EXPECT_FALSE(is_member("a/", "ab/1"));
  EXPECT_TRUE(is_member("a//", "a//1")) << "of election a/";
}

TEST(EtcdKeys, TheOldestMemberHeadsTheLineWhateverIsNestedBelowIt) {
  const std::vector<KeyValue> kvs{member("a/b/1", 3, 1), member("a/2", 7, 2), member("a/1", 5, 1)};
  ASSERT_NE(head_of("a/", kvs), nullptr);
  EXPECT_EQ(head_of("a/", kvs)->key, "a/1");
  EXPECT_EQ(head_of("a/b/", kvs)->key, "a/b/1");
  EXPECT_EQ(head_of("c/", kvs), nullptr);
}

TEST(EtcdKeys, AnElectionIsToldByALeaseInTheKey) {
  EXPECT_EQ(election_of("", member("team/job/1f", 1, 0x1F)), "team/job");
  EXPECT_EQ(election_of("app/", member("app/job/1f", 1, 0x1F)), "job");
  EXPECT_EQ(election_of("", member("job/1f", 1, 0x20)), std::nullopt) << "another's lease";
  EXPECT_EQ(election_of("", member("config/10", 1, 0)), std::nullopt) << "an ordinary key";
  EXPECT_EQ(election_of("app/", member("other/job/1f", 1, 0x1F)), std::nullopt);
  EXPECT_EQ(election_of("app/", member("app/1f", 1, 0x1F)), std::nullopt) << "no name";
  EXPECT_EQ(election_of("", member("/1f", 1, 0x1F)), std::nullopt);
}

TEST(EtcdKeys, ARecordSaysWhatEverybodyCanSee) {
  const Record record = to_record("job", member("job/1f", 42, 0x1F, "host:1"));
  EXPECT_EQ(record.session, "1f");
  EXPECT_EQ(record.id, "host:1");
  EXPECT_EQ(record.token, 42U);
  EXPECT_EQ(record.revision, 42U);
  EXPECT_EQ(to_record("job", member("job/1f", 42, 0x1F, "")).id, "1f") << "etcdctl lock";
  EXPECT_EQ(to_record("job", member("job/x", 42, 0)).ttl, kForever) << "no lease ends it";
}

TEST(EtcdKeys, TtlsAreRoundedUpToWholeSeconds) {
  EXPECT_EQ(lease_seconds(1s), 1);
  EXPECT_EQ(lease_seconds(1001ms), 2);
  EXPECT_EQ(lease_seconds(15s), 15);
  EXPECT_EQ(lease_seconds(kForever), 86'400);
  EXPECT_EQ(lease_seconds(Duration(1)), 1);
}

}  // namespace
}  // namespace tenure::etcd
