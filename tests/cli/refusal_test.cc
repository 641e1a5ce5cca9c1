// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Every command on stores that cannot be used: the exit code, and that nothing is changed.
#include "tests/cli/harness.h"
#include "tests/cli/write_lock.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <sqlite3.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

// What a watch is said to end with when it goes on until it is told to end.
constexpr int kWaits = 128 + SIGTERM;

struct Codes {
  int lock;
  int status;
  int watch;
  int doctor;
};

// Every file with its mode, size and a number that stands for its content.
std::map<std::string, std::string> snapshot(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat info {};
    if (lstat(entry.path().c_str(), &info) != 0) continue;
    files[entry.path().string()] =
        std::to_string(info.st_mode) + " " + std::to_string(info.st_size) + " " +
        std::to_string(std::hash<std::string>()(read_file(entry.path())));
  }
  return files;
}

class Refusal : public testing::Test {
 protected:
  Refusal() { fs::permissions(place_.path(), fs::perms(0755)); }

  // All commands on PATH, by way of `wrapper`.
  void expect(const std::string& path, const Codes& codes,
              const std::vector<std::string>& wrapper = {}) {
    SCOPED_TRACE(path);
    const auto before = snapshot(place_.path());
    const std::vector<std::pair<std::vector<std::string>, int>> commands{
        {{"lock", "--name", "x", "--timeout", "1ms", "--store", "sqlite:" + path, "--", "true"},
         codes.lock},
        {{"status", "--store", "sqlite:" + path}, codes.status},
        {{"watch", "--store", "sqlite:" + path}, codes.watch},
        {{"doctor", "--store", "sqlite:" + path}, codes.doctor}};
    for (const auto& [words, code] : commands) {
      std::vector<std::string> arguments = wrapper;
      arguments.push_back(tenure_binary());
      arguments.insert(arguments.end(), words.begin(), words.end());
      Process tenure(bench_.dir, arguments);
      if (code == kWaits) {
        EXPECT_FALSE(tenure.wait(std::chrono::milliseconds(300))) << words[0] << tenure.err();
        tenure.send(SIGTERM);
      }
      EXPECT_EQ(tenure.wait(), code) << words[0] << ": " << tenure.err() << tenure.out();
      // The doctor says it on its standard output.
      if (code == 64 || code == 69) {
        EXPECT_NE(tenure.err() + tenure.out(), "") << words[0];
      }
    }
    EXPECT_EQ(snapshot(place_.path()), before) << "something was created or changed";
  }

  // A database of ours with a change made to it, and no log beside it.
  std::string database(const std::string& name,
                       const std::string& change = "PRAGMA wal_checkpoint(TRUNCATE)") {
    const std::string path = place_ / name;
    Process lock(bench_.dir, {tenure_binary(), "lock", "--name", "x", "--store", "sqlite:" + path,
                              "--", "true"});
    EXPECT_EQ(lock.wait(), 0) << lock.err();
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, change.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << change;
    sqlite3_close(db);
    return path;
  }

  Bench bench_;
  TempDir place_;
};

TEST_F(Refusal, OfFilesThatAreNotThisTenuresIs69) {
  expect(place_.write("foreign.db", std::string(5000, 'z')), {69, 69, 69, 69});
  expect(database("newer.db", "PRAGMA user_version = 2"), {69, 69, 69, 69});
  const std::string corrupt = database("corrupt.db");
  std::string content = read_file(corrupt);
  std::fill(content.begin() + 100, content.end(), '\x5A');
  (void)place_.write("corrupt.db", content);
  expect(corrupt, {69, 69, 69, 69});
}

TEST_F(Refusal, OfPathsThatCanNameNoDatabaseIs64) {
  expect(place_.path().string(), {64, 64, 64, 69});
}

TEST_F(Refusal, OfADatabaseWithASecondNameIs64) {
  const std::string path = database("t.db");
  fs::create_hard_link(path, place_ / "other.db");
  expect(path, {64, 64, 64, 69});
  expect(place_ / "other.db", {64, 64, 64, 69});
}

// Those that only look wait for it to appear; those that would create it are told.
TEST_F(Refusal, OfAFolderThatIsNotThereIsForThoseThatWouldCreateIt) {
  expect(place_ / "no/such/x.db", {64, 0, kWaits, 69});
  expect("/proc/tenure.db", {64, 0, kWaits, 69});
}

TEST_F(Refusal, OfWhatAnotherUserMayNotWriteIs69) {
  if (geteuid() != 0 || access("/usr/bin/setpriv", X_OK) != 0) {
    GTEST_SKIP() << "needs root, who may become nobody by setpriv";
  }
  const std::vector<std::string> as_nobody{"/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
                                           "--clear-groups"};
  Process can(bench_.dir, [&] {
    auto words = as_nobody;
    words.insert(words.end(), {tenure_binary(), "version"});
    return words;
  }());
  if (can.wait() != 0) GTEST_SKIP() << "nobody may not run this build: " << can.err();
  const std::string path = database("t.db");
  fs::permissions(path, fs::perms(0644));
  expect(place_ / "new.db", {69, 0, kWaits, 69}, as_nobody);
  // Those that only look can do so, although SQLite may not make the files beside it.
  expect(path, {69, 0, kWaits, 69}, as_nobody);
}

TEST_F(Refusal, OfAFullDiskIs69AndLeavesNothing) {
  if (mount("tmpfs", place_.path().c_str(), "tmpfs", 0, "size=64k,mode=755") != 0) {
    GTEST_SKIP() << "cannot mount a tmpfs here: " << std::strerror(errno);
  }
  std::ofstream filler(place_ / "filler");
  const std::string block(4096, 'x');
  while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
  expect(place_ / "t.db", {69, 0, kWaits, 69});
  filler.close();
  EXPECT_EQ(umount2(place_.path().c_str(), MNT_DETACH), 0);
}

// Few descriptors are the doctor's finding, not a fault of the store's folder.
TEST_F(Refusal, ForLackOfDescriptorsIsNotBlamedOnTheStore) {
  if (access("/bin/sh", X_OK) != 0) GTEST_SKIP() << "needs a shell that lowers the limit";
  for (const int limit : {8, 10, 12, 16, 18}) {
    SCOPED_TRACE(limit);
    const std::string lower = "ulimit -n " + std::to_string(limit) + "; exec \"$@\"";
    const std::string path = place_ / (std::to_string(limit) + ".db");
    Process doctor(bench_.dir, {"/bin/sh", "-c", lower, "sh", tenure_binary(), "doctor", "--store",
                                "sqlite:" + path});
    EXPECT_EQ(doctor.wait(), 69) << doctor.out();
    EXPECT_NE(doctor.out().find("bad      file descriptors"), std::string::npos) << doctor.out();
    EXPECT_EQ(doctor.out().find("correct"), std::string::npos) << doctor.out();
    Process lock(bench_.dir, {"/bin/sh", "-c", lower, "sh", tenure_binary(), "lock", "--name", "x",
                              "--store", "sqlite:" + path, "--", "true"});
    EXPECT_NE(lock.wait(), 0);
    for (const auto& entry : fs::directory_iterator(place_.path())) {
      const std::string name = entry.path().filename();
      EXPECT_EQ(name.find("-new"), std::string::npos) << name;
      EXPECT_TRUE(name.ends_with(".db") ? entry.file_size() > 0 : fs::exists(path)) << name;
    }
  }
}

// The verdicts agree with each other: no store is fine in a folder that is not.
TEST_F(Refusal, TheDoctorCallsNoStoreFineThatNoCandidateCanOpen) {
  const auto verdicts = [&](const std::string& store, const SpawnOptions& options) {
    std::vector<std::string> words{tenure_binary(), "doctor"};
    if (!store.empty()) words.insert(words.end(), {"--store", store});
    Process doctor(bench_.dir, words, options);
    const auto code = doctor.wait();
    std::map<std::string, std::string> found{{"code", std::to_string(code.value_or(-1))}};
    for (const std::string& line : lines_of(doctor.out())) {
      const auto colon = line.find(": ");
      if (line[0] == ' ' || colon == std::string::npos) continue;
      found[line.substr(9, colon - 9)] = line.substr(0, line.find(' '));
    }
    return found;
  };
  auto missing = verdicts("sqlite:" + (place_ / "no/such/x.db"), {});
  EXPECT_EQ(missing["code"], "69");
  EXPECT_EQ(missing["folder"], "bad");
  EXPECT_EQ(missing["store"], "bad");
  auto proc = verdicts("sqlite:/proc/t.db", {});
  EXPECT_EQ(proc["code"], "69");
  EXPECT_EQ(proc["file system"], "bad");
  EXPECT_EQ(proc["store"], "bad");
  // The default folder is created by whoever needs it first.
  auto usual = verdicts("", {.env = {{"XDG_STATE_HOME", place_ / "state"}}});
  EXPECT_EQ(usual["code"], "0");
  EXPECT_EQ(usual["folder"], "ok");
  EXPECT_EQ(usual["store"], "ok");
  EXPECT_FALSE(fs::exists(place_ / "state"));

  fs::create_directory(place_ / "x.db-lock");
  auto lock = verdicts("sqlite:" + (place_ / "x.db"), {});
  EXPECT_EQ(lock["code"], "69");
  EXPECT_EQ(lock["folder"], "bad");
  EXPECT_EQ(lock["store"], "bad");
  auto id = verdicts(bench_.store(), {.env = {{"TENURE_ID", "\x01"}}});
  EXPECT_EQ(id["code"], "64");
}

TEST_F(Refusal, TheDoctorSeesADatabaseThatTakesNoWrites) {
  ASSERT_EQ(bench_.start("lock", "15s", {"true"})->wait(), 0);
  const auto doctor = [&] {
    return std::make_unique<Process>(
        bench_.dir, std::vector<std::string>{tenure_binary(), "doctor", "--store", bench_.store(),
                                             "--ttl", "2s"});
  };
  const auto fine = doctor();
  EXPECT_EQ(fine->wait(), 0) << fine->out();
  const WriteLock stuck(bench_.dir / "tenure.db");
  ASSERT_TRUE(stuck.held());
  const auto bad = doctor();
  EXPECT_EQ(bad->wait(), 69);
  EXPECT_NE(bad->out().find("not written now"), std::string::npos) << bad->out();
}

}  // namespace
}  // namespace tenure::test
