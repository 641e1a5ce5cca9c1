// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What `tenure lock` costs around a short job, as in docs/performance.md: whole processes, against
// `flock FILE true` and bare durable transactions measured in the same run, turn by turn, so that
// whatever else the machine does hits all of them.
//
//   cli_lock PATH-OF-TENURE [ROUNDS [FOLDER]]
//
// Exit 1 if the limit is broken: at most 3 x flock plus two durable transactions (acquire,
// release).

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <sqlite3.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "cli_lock: %s\n", what.c_str());
  std::exit(2);
}

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double run(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const auto start = Clock::now();
  pid_t pid = -1;
  if (posix_spawnp(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    die("cannot run " + words[0]);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) die(words[0] + " failed");
  return ms_since(start);
}

void must(sqlite3* db, const char* sql) {
  char* error = nullptr;
  if (sqlite3_exec(db, sql, nullptr, nullptr, &error) != SQLITE_OK) die(error);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) die("usage: cli_lock PATH-OF-TENURE [ROUNDS [FOLDER]]");
  const std::string tenure = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 200;
  const std::filesystem::path base = argc > 3 ? argv[3] : std::filesystem::temp_directory_path();
  std::string folder = (base / "cli_lock.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) die("cannot make a folder in " + base.string());

  sqlite3* db = nullptr;
  sqlite3_open((folder + "/bare.db").c_str(), &db);
  must(db,
       "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (n INTEGER);"
       "INSERT INTO t VALUES (0)");
  std::vector<double> flock;
  std::vector<double> lock;
  std::vector<double> durable;
  for (int i = 0; i < rounds; ++i) {
    flock.push_back(run({"flock", folder + "/file", "true"}));
    const auto start = Clock::now();
    must(db, "BEGIN IMMEDIATE; UPDATE t SET n = n + 1; COMMIT");
    durable.push_back(ms_since(start));
    lock.push_back(run({tenure, "lock", "--name", "x", "--store", "sqlite:" + folder + "/tenure.db",
                        "--", "true"}));
  }
  sqlite3_close(db);
  std::filesystem::remove_all(folder);

  const double limit = 3 * median(flock) + 2 * median(durable);
  std::printf("flock FILE true       %7.3f ms\n", median(flock));
  std::printf("durable transaction   %7.3f ms\n", median(durable));
  std::printf("tenure lock -- true   %7.3f ms (medians of %d)\n", median(lock), rounds);
  std::printf("ratio to flock        %7.2f   (less two transactions: %.2f; limit 3)\n",
              median(lock) / median(flock), (median(lock) - 2 * median(durable)) / median(flock));
  std::printf("limit                 %7.3f ms: %s\n", limit,
              median(lock) <= limit ? "kept" : "BROKEN");
  return median(lock) <= limit ? 0 : 1;
}
