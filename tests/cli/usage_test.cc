// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// Bad input: a message that names the option, the value and what is accepted, exit 64, nothing
// created.
#include "tests/cli/harness.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

struct Bad {
  std::vector<std::string> arguments;  // "STORE" stands for a store that does not exist yet
  std::vector<std::string> said;       // what the message must hold
};

const std::vector<Bad>& bad_lines() {
  static const std::vector<Bad> lines{
      {{}, {"ubcommand"}},
      {{"fly"}, {"fly"}},
      {{"simulate", "writers", "--seed", "-1"}, {"--seed", "-1"}},
      {{"simulate", "writers", "--seed", "18446744073709551616"},
       {"--seed", "0 to 18446744073709551615"}},
      {{"simulate", "writers", "--seed", "99999999999999999999999"},
       {"--seed", "0 to 18446744073709551615"}},
      {{"simulate", "writers", "--writers", "-1"}, {"--writers"}},
      {{"run"}, {"--name"}},
      {{"run", "--name", "x"}, {"command", "--"}},
      {{"run", "--name", "x", "--"}, {"command", "--"}},
      {{"run", "--name", "x", "--", ""}, {"empty"}},
      {{"run", "--name", "x", "true"}, {"true"}},
      {{"run", "--name", "", "--", "true"}, {"--name", "1 to 255 bytes"}},
      {{"run", "--name", std::string(300, 'n'), "--", "true"}, {"--name", "255"}},
      {{"run", "--name", std::string(120'000, 'n'), "--", "true"}, {"--name", "255"}},
      {{"run", "--name", "a\nb", "--", "true"}, {"--name", "control"}},
      {{"run", "--name", "a\xff", "--", "true"}, {"--name", "UTF-8"}},
      {{"run", "--name", "x", "--id", "", "--", "true"}, {"--id", "1 to 255 bytes"}},
      {{"run", "--name", "x", "--name", "y", "--", "true"}, {"--name"}},
      {{"run", "--name", "x", "--unknown", "--", "true"}, {"--unknown"}},
      {{"run", "--name", "x", "--ttl", "5", "--", "true"}, {"--ttl", "'5'", "15s"}},
      {{"run", "--name", "x", "--ttl", "0", "--", "true"}, {"--ttl", "'0'", "15s"}},
      {{"run", "--name", "x", "--ttl", "-1", "--", "true"}, {"--ttl", "'-1'", "15s"}},
      {{"run", "--name", "x", "--ttl=-1s", "--", "true"}, {"--ttl", "'-1s'", "15s"}},
      {{"run", "--name", "x", "--ttl", "1e30", "--", "true"}, {"--ttl", "'1e30'", "15s"}},
      {{"run", "--name", "x", "--ttl", "NaN", "--", "true"}, {"--ttl", "'NaN'", "15s"}},
      {{"run", "--name", "x", "--ttl", "", "--", "true"}, {"--ttl", "''", "15s"}},
      {{"run", "--name", "x", "--ttl", "1ms", "--", "true"}, {"--ttl", "1ms", "100ms"}},
      {{"run", "--name", "x", "--ttl", "25h", "--", "true"}, {"--ttl", "25h", "24h"}},
      {{"run", "--name", "x", "--grace", "14s", "--", "true"}, {"--grace", "'14s'", "half"}},
      {{"run", "--name", "x", "--grace", "0s", "--", "true"}, {"--grace", "'0s'", "15s"}},
      {{"lock", "--name", "x", "--timeout", "5", "--", "true"}, {"--timeout", "'5'", "15s"}},
      {{"run", "--name", "x", "--log-level", "loud", "--", "true"},
       {"--log-level", "'loud'", "debug"}},
      {{"run", "--name", "x", "--quiet", "--verbose", "--", "true"}, {"--quiet", "--verbose"}},
      {{"run", "--name", "x", "--store", "", "--", "true"}, {"--store", "sqlite:PATH"}},
      {{"run", "--name", "x", "--store", "etc", "--", "true"}, {"sqlite:PATH"}},
      {{"run", "--name", "x", "--store", "ftp://host/x", "--", "true"}, {"ftp", "sqlite:PATH"}},
      {{"run", "--name", "x", "--store", "memory:a", "--", "true"}, {"--store", "nobody competes"}},
      {{"status", "--store", "MEMORY:"}, {"--store", "nobody competes"}},
      {{"lock", "--name", "x", "--once", "--", "true"}, {"--once"}},
      {{"run", "--name=", "--quiet", "--", "true"}, {"--name is empty"}},
      {{"status", "--name", "--json"}, {"--name needs a value", "--name=NAME"}},
      {{"status", "-n", "-j"}, {"-n needs a value"}},
      {{"status", "--name"}, {"--name needs a value"}},
      {{"run", "--name", "x", "--once=false", "--", "true"}, {"--once", "takes no value"}},
      {{"status", "--json=0"}, {"--json", "takes no value"}},
      {{"status", "-j=0"}, {"=0"}},
      {{"run", "--name", "x", "true"}, {"true", "follows --", "tenure run --name"}},
      {{"status", "extra"}, {"extra"}},
      {{"status", "--", "true"}, {"--"}},
      {{"status", "--name", ""}, {"--name"}},
      {{"status", "--timeout", "never"}, {"--timeout", "'never'"}},
      {{"completion"}, {"SHELL"}},
      {{"completion", "tcsh"}, {"tcsh", "bash, zsh and fish"}},
      {{"version", "--json"}, {"--json"}},
  };
  return lines;
}

TEST(Usage, BadInputIsRefusedByNameAndNothingIsCreated) {
  for (const Bad& bad : bad_lines()) {
    const Bench bench;
    std::vector<std::string> arguments{tenure_binary()};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    Process tenure(bench.dir, arguments, {.env = {{"XDG_STATE_HOME", bench.dir / "state"}}});
    const auto code = tenure.wait();
    const std::string said = tenure.err();
    const std::string shown = bad.arguments.empty() ? "" : bad.arguments.back().substr(0, 40);
    EXPECT_EQ(code, 64) << shown << ": " << said.substr(0, 500);
    EXPECT_EQ(tenure.out(), "") << shown;
    for (const std::string& part : bad.said) {
      EXPECT_NE(said.find(part), std::string::npos)
          << part << " is not in: " << said.substr(0, 500);
    }
    EXPECT_LT(said.size(), 1000U) << "a message is for people";
    EXPECT_FALSE(fs::exists(bench.dir / "state")) << said;
    EXPECT_FALSE(fs::exists(bench.dir / ".local")) << said;
  }
}

TEST(Usage, EnvironmentStandsInForOptionsAndIsJudgedTheSame) {
  const Bench bench;
  const auto run = [&](std::map<std::string, std::string> env) {
    auto process = std::make_unique<Process>(
        bench.dir, std::vector<std::string>{tenure_binary(), "lock", "--name", "x", "--", "env"},
        SpawnOptions{.env = std::move(env)});
    process->wait();
    return process;
  };
  const auto bad = run({{"TENURE_TTL", "5"}, {"TENURE_STORE", bench.store()}});
  EXPECT_EQ(bad->wait(), 64);
  EXPECT_NE(bad->err().find("TENURE_TTL is '5'"), std::string::npos) << bad->err();
  EXPECT_FALSE(fs::exists(bench.dir / "tenure.db"));

  const auto empty = run({{"TENURE_TTL", ""}, {"TENURE_ID", ""}, {"TENURE_STORE", bench.store()}});
  EXPECT_EQ(empty->wait(), 0) << empty->err();
  EXPECT_NE(empty->out().find("TENURE_TTL_MS=15000\n"), std::string::npos);

  const auto given =
      run({{"TENURE_TTL", "9s"}, {"TENURE_ID", "me"}, {"TENURE_STORE", bench.store()}});
  EXPECT_EQ(given->wait(), 0);
  EXPECT_NE(given->out().find("TENURE_TTL_MS=9000\n"), std::string::npos);
  EXPECT_NE(given->out().find("TENURE_ID=me\n"), std::string::npos);
}

TEST(Usage, DefaultStoreIsInTheStateFolder) {
  const Bench bench;
  Process lock(bench.dir, {tenure_binary(), "lock", "--name", "x", "--", "true"},
               {.env = {{"XDG_STATE_HOME", bench.dir / "state"}}});
  EXPECT_EQ(lock.wait(), 0) << lock.err();
  EXPECT_TRUE(fs::exists(bench.dir / "state/tenure/tenure.db"));
}

// Every command on every kind of unusable store: refusal_test.cc.
TEST(Usage, UnusableStoresAre69OrUsageAndStayAsTheyAre) {
  const Bench bench;
  const std::string foreign = bench.dir.write("foreign", std::string(5000, 'z'));
  struct Case {
    std::string store;
    int code;
  };
  for (const Case& c :
       {Case{"sqlite:" + foreign, 69}, Case{"sqlite:" + bench.dir.path().string(), 64},
        Case{"sqlite:" + (bench.dir / "no/such/folder.db"), 64},
        Case{"sqlite:/proc/tenure.db", 64}}) {
    Process lock(bench.dir,
                 {tenure_binary(), "lock", "--name", "x", "--store", c.store, "--", "true"});
    EXPECT_EQ(lock.wait(), c.code) << c.store << ": " << lock.err();
    EXPECT_NE(lock.err(), "") << c.store;
  }
  EXPECT_EQ(read_file(foreign), std::string(5000, 'z'));
}

TEST(Usage, HelpOfEveryCommandHasAnExample) {
  const Bench bench;
  for (const char* command :
       {"run", "lock", "watch", "status", "doctor", "version", "completion"}) {
    Process help(bench.dir, {tenure_binary(), command, "--help"});
    EXPECT_EQ(help.wait(), 0) << help.err();
    EXPECT_NE(help.out().find("Example: "), std::string::npos) << command;
    EXPECT_NE(help.out().find("tenure " + std::string(command)), std::string::npos) << command;
  }
}

TEST(Usage, AValueMayBeginWithADashIfItIsPartOfItsWord) {
  const Bench bench;
  Process tenure(bench.dir, {tenure_binary(), "lock", "--name=--quiet", "--id=a=b", "-s",
                             bench.store(), "--", "sh", "-c", "echo $TENURE_NAME $TENURE_ID"});
  EXPECT_EQ(tenure.wait(), 0) << tenure.err();
  EXPECT_EQ(tenure.out(), "--quiet a=b\n");
}

TEST(Usage, ManyArgumentsReachTheCommand) {
  const Bench bench;
  std::vector<std::string> program{"sh", "-c", "echo $#", "name"};
  for (int i = 0; i < 10'000; ++i) program.push_back("argument-" + std::to_string(i));
  const auto lock = bench.start("lock", "15s", program);
  EXPECT_EQ(lock->wait(), 0) << lock->err();
  EXPECT_EQ(lock->out(), "10000\n");
}

TEST(Usage, OptionsOfTheCommandAreItsOwn) {
  const Bench bench;
  const auto lock = bench.start("lock", "15s", {"echo", "--name", "--", "--help", "-v"});
  EXPECT_EQ(lock->wait(), 0) << lock->err();
  EXPECT_EQ(lock->out(), "--name -- --help -v\n");
}

TEST(Usage, ClosedStandardDescriptorsAreNoTrap) {
  const Bench bench;
  Process lock(bench.dir, {"/bin/sh", "-c",
                           "exec \"$0\" lock --name x --store \"$1\" -- \"$2\" \"$3\" --exit 3 "
                           "0<&- 1>&- 2>&-",
                           tenure_binary(), bench.store(), worker_binary(), bench.marks_path()});
  EXPECT_EQ(lock.wait(), 3);
  // A database whose descriptor is 1 or 2 would have been written to by messages.
  Process status(bench.dir, {tenure_binary(), "status", "--store", bench.store()});
  EXPECT_EQ(status.wait(), 0) << status.err();
}

TEST(Usage, ADeletedFolderAndNoHomeAreSurvived) {
  const Bench bench;
  Process lock(bench.dir, {"/bin/sh", "-c",
                           "mkdir gone && cd gone && rmdir ../gone && unset HOME && "
                           "exec \"$0\" lock --name x --store \"$1\" -- true",
                           tenure_binary(), bench.store()});
  EXPECT_EQ(lock.wait(), 0) << lock.err();
}

TEST(Usage, NoLibraryIsTakenFromTheCurrentFolder) {
  const Bench bench;
  for (const char* name : {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1",
                           "libuv.so.1", "libsqlite3.so.0"}) {
    std::ofstream(bench.dir / name) << "not a library\n";
  }
  Process version(bench.dir, {"/bin/sh", "-c", "cd \"$1\" && exec \"$0\" version", tenure_binary(),
                              bench.dir.path().string()});
  EXPECT_EQ(version.wait(), 0) << version.err();
}

TEST(Usage, TooFewDescriptorsAreSaidPlainly) {
  const Bench bench;
  for (int limit = 3; limit <= 24; ++limit) {
    Process lock(bench.dir, {"/bin/sh", "-c",
                             "ulimit -n " + std::to_string(limit) +
                                 "; exec \"$0\" lock --name x --store \"$1\" --timeout 2s -- true",
                             tenure_binary(), bench.store()});
    const auto code = lock.wait();
    // maybe: how many are needed is not promised, only that it works or says why not.
    if (code == 0) continue;
    EXPECT_TRUE(code == 69 || code == 126 || code == 127) << limit << ": " << code.value_or(-1);
    // 127: the loader itself could not open libraries.
    EXPECT_NE(lock.err(), "") << limit;
  }
}

}  // namespace
}  // namespace tenure::test
