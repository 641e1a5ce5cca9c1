// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include <tenure/runtime.h>

#include "tests/runtime/child.h"
#include "tests/runtime/drive.h"
#include "tests/support/temp_dir.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace tenure {
namespace {

using test::drive_until;
using test::new_runtime;
using testing::AllOf;
using testing::HasSubstr;

class OpenStoreTest : public testing::Test {
 protected:
  Error refusal(std::string_view url) {
    const auto store = runtime_->open_store(url);
    if (store) return {Errc::closed, "opened"};
    return store.error();
  }

  std::unique_ptr<Runtime> runtime_ = new_runtime({.threads = Threads::caller});
};

AcquireReply acquire(Runtime& runtime, LeaseStore& store, const std::string& session) {
  auto answer = std::make_shared<std::optional<Result<AcquireReply>>>();
  runtime.post([&store, &runtime, session, answer] {
    AcquireRequest request{
        .election = "e", .id = "i", .session = session, .ttl = std::chrono::seconds(10)};
    request.limit = saturating_add(runtime.clock().now(), std::chrono::seconds(10));
    store.acquire(request, [answer](Result<AcquireReply> reply) { *answer = std::move(reply); });
  });
  EXPECT_TRUE(drive_until(runtime, [&] { return answer->has_value(); }));
  return answer->value().value();
}

TEST_F(OpenStoreTest, MemoryStoresOfOneNameAreOne) {
  const auto first = runtime_->open_store("memory:open-store-test");
  const auto second = runtime_->open_store("memory:open-store-test");
  const auto other = runtime_->open_store("memory:open-store-test-2");
  ASSERT_TRUE(first && second && other);
  EXPECT_EQ((*first)->traits().kind, "memory");
  EXPECT_TRUE(acquire(*runtime_, **first, "s1").ours);
  EXPECT_FALSE(acquire(*runtime_, **second, "s2").ours);
  EXPECT_TRUE(acquire(*runtime_, **other, "s3").ours);
}

TEST_F(OpenStoreTest, NameOfAMemoryStoreIsPercentDecoded) {
  const auto first = runtime_->open_store("memory:a%62c");
  const auto second = runtime_->open_store("memory:abc");
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(acquire(*runtime_, **first, "s1").ours);
  EXPECT_FALSE(acquire(*runtime_, **second, "s2").ours);
}

TEST_F(OpenStoreTest, UnknownSchemeIsRefusedAndTheAcceptedOnesAreNamed) {
  const Error error = refusal("redis:localhost");
  EXPECT_EQ(error.code, Errc::invalid_argument);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("redis:"), HasSubstr("sqlite:PATH"), HasSubstr("memory:NAME")));
  EXPECT_THAT(refusal("localhost:2379").message, HasSubstr("sqlite:PATH"));
}

TEST_F(OpenStoreTest, TextThatIsNoUrlIsRefused) {
  for (const char* url : {"/var/lib/tenure.db", "tenure.db", ":", " "}) {
    EXPECT_EQ(refusal(url).code, Errc::invalid_argument) << url;
    EXPECT_THAT(refusal(url).message, HasSubstr("sqlite:PATH")) << url;
  }
}

TEST_F(OpenStoreTest, UnknownOptionsAndHostsAreRefusedByEveryScheme) {
#ifdef TENURE_STORE_SQLITE
  const std::vector<std::string> schemes{"memory", "sqlite"};
#else
  const std::vector<std::string> schemes{"memory"};
  EXPECT_EQ(refusal("sqlite:x").code, Errc::unsupported);
  EXPECT_EQ(refusal("").code, Errc::unsupported);
#endif
  for (const std::string& scheme : schemes) {
    EXPECT_THAT(refusal(scheme + ":x?colour=red").message, HasSubstr("\"colour\""));
    EXPECT_THAT(refusal(scheme + "://x/y").message, HasSubstr("has no host"));
  }
}

TEST_F(OpenStoreTest, StoreIsDestroyedOnTheLoopWhereverItIsDropped) {
  auto store = runtime_->open_store("memory:");
  ASSERT_TRUE(store);
  const LeaseStore* const raw = store->get();
  store->reset();
  // It is still there until the loop has come round; the answer would be use after free if not.
  EXPECT_EQ(raw->traits().kind, "memory");
  EXPECT_EQ(runtime_->poll(), 1U);
}

TEST_F(OpenStoreTest, StoreMayOutliveItsRuntime) {
  auto store = runtime_->open_store("memory:");
  ASSERT_TRUE(store);
  runtime_.reset();
  bool answered = false;
  (*store)->list({}, [&](const auto&) { answered = true; });
  EXPECT_FALSE(answered);
  store->reset();
}

TEST_F(OpenStoreTest, LK03_StoreDroppedInAForkedChildIsLeftToTheParent) {
  auto store = runtime_->open_store("memory:");
  ASSERT_TRUE(store);
  EXPECT_EQ(test::in_child([&] {
              store->reset();
              return 0;
            }),
            0);
  EXPECT_TRUE(acquire(*runtime_, **store, "s1").ours);
}

#ifdef TENURE_STORE_SQLITE

TEST_F(OpenStoreTest, SqliteStoreIsOpenedAtThePercentDecodedPath) {
  const test::TempDir folder;
  for (const std::string prefix : {"sqlite:", "sqlite://", "SQLITE:"}) {
    const auto store = runtime_->open_store(prefix + folder / "a%3Fb.db");
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ((*store)->traits().kind, "sqlite");
    EXPECT_TRUE(std::filesystem::exists(folder / "a?b.db"));
  }
}

std::size_t count_open_descriptors() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

TEST_F(OpenStoreTest, SqliteStoreThatIsDroppedWithItsRuntimeGivesItsFilesBack) {
  const test::TempDir folder;
  const std::size_t before = count_open_descriptors();
  for (const Threads threads : {Threads::library, Threads::caller}) {
    auto runtime = new_runtime({.threads = threads});
    auto store = runtime->open_store("sqlite:" + folder / "x.db");
    ASSERT_TRUE(store) << store.error().message;
    // Whatever comes of what the store still wants to do on a worker.
    store->reset();
    runtime.reset();
    EXPECT_EQ(count_open_descriptors(), before);
  }
}

TEST_F(OpenStoreTest, SqliteWithoutAPathIsRefusedAndNotTakenForTheDefault) {
  EXPECT_EQ(refusal("sqlite:").code, Errc::invalid_argument);
  EXPECT_EQ(refusal("sqlite://").code, Errc::invalid_argument);
}

TEST_F(OpenStoreTest, NothingIsCreatedWhenToldSo) {
  const test::TempDir folder;
  const auto store = runtime_->open_store("sqlite:" + folder / "x.db", {.create = false});
  EXPECT_TRUE(store) << store.error().message;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(OpenStoreTest, EmptyUrlIsTheStoreInTheUsersStateFolder) {
  const test::TempDir folder;
  const int result = test::in_child([&] {
    ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
    const auto runtime = new_runtime({.threads = Threads::caller});
    return runtime->open_store("") ? 0 : 1;
  });
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "tenure/tenure.db"));
}

#endif

}  // namespace
}  // namespace tenure
