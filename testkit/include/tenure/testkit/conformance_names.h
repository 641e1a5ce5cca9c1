// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenure/testkit/conformance_fixture.h>

#include <string>
#include <vector>

/// The rules for names, ids, sessions and ttls, the same in every store.
namespace tenure::testkit {
namespace conformance {

inline std::vector<std::string> bad_names() {
  return {"",
          std::string(1, '\0'),
          std::string("a\0b", 3),
          "a\nb",
          "a\tb",
          "\x7F",
          "\xC2\x85",
          "\xFF",
          "\xC0\xAF",
          "\xED\xA0\x80",
          std::string(256, 'x'),
          std::string(2'000'000, 'x')};
}

template <class T>
void expect_refused(const Result<T>& reply) {
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, Errc::invalid_argument);
  EXPECT_FALSE(reply.error().message.empty());
  EXPECT_LT(reply.error().message.size(), 1000U) << "a message is for people";
}

}  // namespace conformance

TEST_P(StoreConformance, BadNamesAreRefusedByEveryVerbAndLeaveNothingBehind) {
  using conformance::expect_refused;
  const auto store = open();
  for (const std::string& bad : conformance::bad_names()) {
    SCOPED_TRACE(std::to_string(bad.size()) + " bytes");
    AcquireRequest request = asking("s1", bad);
    expect_refused(acquire(store, request));
    Record record;
    record.election = bad;
    record.session = "s1";
    record.revision = 1;
    expect_refused(renew(store, record, ttl()));
    expect_refused(release(store, bad, "s1", 0));
    // An empty name means every election to the others.
    if (bad.empty()) continue;
    expect_refused(wait(begin(store, &LeaseStore::list, ListRequest{bad, kNever})));
    const auto watching = watch(store, bad);
    ASSERT_TRUE(pump([&] { return watching->error().has_value(); }));
    EXPECT_EQ(watching->error()->code, Errc::invalid_argument);
    EXPECT_EQ(watching->count(), 0U);
  }
  EXPECT_TRUE(list(store).empty());
}

TEST_P(StoreConformance, BadIdsAndSessionsAreRefusedAndLeaveNothingBehind) {
  const auto store = open();
  for (const std::string& bad : conformance::bad_names()) {
    SCOPED_TRACE(std::to_string(bad.size()) + " bytes");
    AcquireRequest request = asking("s1");
    request.id = bad;
    conformance::expect_refused(acquire(store, request));
    request = asking("s1");
    request.session = bad;
    conformance::expect_refused(acquire(store, request));
  }
  EXPECT_TRUE(list(store).empty());
}

TEST_P(StoreConformance, WhatPeopleCallThingsIsTakenByteForByte) {
  const auto store = open();
  const std::vector<std::string> names{
      "billing",
      "team/billing",
      "/",
      "a",
      "A",
      "a/",
      " a ",
      "..",
      "-rf",
      "100%",
      "a_c",
      "a*c",
      "'; DROP TABLE election; --",
      "?x=y&z#t",
      "\xC3\xA9",   // one character...
      "e\xCC\x81",  // ...that looks the same, and is another name
      "\xE6\x97\xA5\xE6\x9C\xAC",
      "\xF0\x9F\x91\x91",
      std::string(255, 'x'),
  };
  for (const std::string& name : names) {
    AcquireRequest request = asking("s1", name);
    request.id = name;
    const auto reply = acquire(store, request);
    ASSERT_TRUE(reply.has_value()) << name << ": " << reply.error().message;
    ASSERT_TRUE(reply->ours) << name << " is taken for another name";
    EXPECT_EQ(reply->record->election, name);
    EXPECT_EQ(reply->record->id, name);
  }
  EXPECT_EQ(list(store).size(), names.size());
  for (const std::string& name : names) {
    const auto states = list(store, name);
    ASSERT_EQ(states.size(), 1U) << name;
    EXPECT_EQ(states[0].holder->id, name);
    ASSERT_TRUE(release(store, name, "s1", 0)->released) << name;
  }
}

TEST_P(StoreConformance, CK05_ATtlBelowTheLeastIsRefusedAndTheLeastIsTaken) {
  const auto store = open();
  const Duration least = store->traits().min_ttl;
  for (const Duration bad : {Duration::zero(), Duration(-1), Duration(1), Duration::min(),
                             least - Duration(1), -least}) {
    SCOPED_TRACE(std::to_string(bad.count()) + " ns");
    AcquireRequest request = asking("s1");
    request.ttl = bad;
    conformance::expect_refused(acquire(store, request));
  }
  EXPECT_EQ(holder(store), std::nullopt);
  AcquireRequest request = asking("s1");
  request.ttl = least;
  const auto reply = acquire(store, request);
  ASSERT_TRUE(reply && reply->ours);
  EXPECT_GE(reply->record->ttl, least);
  conformance::expect_refused(renew(store, *reply->record, Duration::zero()));
  conformance::expect_refused(renew(store, *reply->record, least - Duration(1)));
}

TEST_P(StoreConformance, AnEndlessTtlIsRefusedOrGrantedButNeverWrapsAround) {
  const auto store = open();
  for (const Duration huge : {kForever, kForever - Duration(1)}) {
    AcquireRequest request = asking("s1");
    request.ttl = huge;
    const auto reply = acquire(store, request);
    // maybe: a store may refuse it, or grant less.
    if (!reply) {
      conformance::expect_refused(reply);
      continue;
    }
    ASSERT_TRUE(reply->ours);
    EXPECT_GT(reply->record->ttl, Duration::zero());
    EXPECT_TRUE(refused(store, "s2"));
    ASSERT_TRUE(released(store, *reply->record));
  }
}

}  // namespace tenure::testkit
