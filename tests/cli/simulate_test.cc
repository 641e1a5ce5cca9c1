// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// `tenure simulate writers` as a process: its table, and the picture's file.
#include "tests/cli/harness.h"

#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace tenure::test {
namespace {

namespace fs = std::filesystem;

class Simulate : public ::testing::Test {
 protected:
  // The small run, unless `extra` says otherwise.
  std::unique_ptr<Process> start(const std::vector<std::string>& extra = {}) {
    std::vector<std::string> arguments{tenure_binary(), "simulate", "writers"};
    if (extra.empty() || extra.front() != "--writers") {
      arguments.insert(arguments.end(), {"--writers", "3", "--rounds", "1"});
    }
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    return std::make_unique<Process>(logs_, arguments);
  }

  std::string table(const std::vector<std::string>& extra = {}) {
    const auto process = start(extra);
    EXPECT_EQ(process->wait(), 0) << process->err();
    EXPECT_EQ(process->err(), "");
    return process->out();
  }

  // The names in the folder of pictures.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(dir_.path())) {
      found.push_back(entry.path().filename().native());
    }
    return found;
  }

  TempDir logs_;
  TempDir dir_;
};

using Names = std::vector<std::string>;

void expect_picture(const std::string& path) {
  std::string svg = read_file(path);
  while (svg.ends_with('\n')) svg.pop_back();
  EXPECT_TRUE(svg.starts_with("<svg") || svg.starts_with("<?xml")) << svg.substr(0, 80);
  EXPECT_TRUE(svg.ends_with("</svg>")) << svg.size();
}

TEST_F(Simulate, TheTableDependsOnTheSeedAlone) {
  const std::string first = table({"--seed", "7"});
  EXPECT_GT(lines_of(first).size(), 3U) << first;
  EXPECT_EQ(table({"--seed", "7"}), first);
  EXPECT_NE(table({"--seed", "8"}), first);
  EXPECT_EQ(table(), table({"--seed", "1"}));
  EXPECT_NE(table({"--seed", "18446744073709551615"}), "");
}

TEST_F(Simulate, NumbersAreDecimalAndOthersAreRefusedByName) {
  EXPECT_EQ(table({"--seed", "010"}), table({"--seed", "10"}));
  for (const std::string option : {"--writers", "--keys", "--rounds", "--seed"}) {
    for (const std::string value : {"0x10", "1e1", "-1", "1.5", "", " 1", "18446744073709551616"}) {
      const auto run = start({option + "=" + value});
      EXPECT_EQ(run->wait(), 64) << option << value;
      EXPECT_EQ(run->out(), "");
      EXPECT_NE(run->err().find(option + ": "), std::string::npos) << run->err();
    }
  }
}

TEST_F(Simulate, ThePictureIsOneCompleteFile) {
  const std::string path = dir_ / "writers.svg";
  EXPECT_EQ(table({"--svg", path}), table());
  expect_picture(path);
  EXPECT_EQ(names(), Names{"writers.svg"});
}

TEST_F(Simulate, APictureTakesThePlaceOfAnotherWithItsModeAndItsLinks) {
  const std::string path = dir_.write("writers.svg", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const std::string link = logs_ / "link.svg";
  fs::create_symlink(path, link);
  table({"--svg", link});
  expect_picture(path);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms{0640});
  EXPECT_EQ(names(), Names{"writers.svg"});
}

TEST_F(Simulate, AnInterruptedOrRefusedRunLeavesTheOldPicture) {
  const std::string path = dir_.write("writers.svg", "old");
  const auto refused = start({"--svg", path, "--seed", "-1"});
  EXPECT_EQ(refused->wait(), 64);
  EXPECT_EQ(read_file(path), "old");

  const auto run = start({"--writers", "10000", "--rounds", "1000", "--svg", path});
  ASSERT_TRUE(eventually([&] { return !run->out().empty(); })) << run->err();
  EXPECT_EQ(read_file(path), "old");
  run->send(SIGINT);
  EXPECT_EQ(run->wait(), 1000 + SIGINT);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(names(), Names{"writers.svg"});
}

TEST_F(Simulate, WhereNoPictureCanBeIsSaidBeforeTheRun) {
  const std::string file = dir_.write("file", "old");
  for (const std::string& path :
       {dir_.path().string(), dir_ / "no/such.svg", file + "/x.svg", dir_ / "new/",
        dir_ / std::string(300, 'n'), std::string("/proc/writers.svg")}) {
    const auto run = start({"--svg", path});
    EXPECT_EQ(run->wait(), 64) << path;
    EXPECT_EQ(run->out(), "") << path;
    EXPECT_NE(run->err().find("--svg: cannot write " + path), std::string::npos) << run->err();
  }
  EXPECT_EQ(names(), Names{"file"});
  EXPECT_EQ(read_file(file), "old");
}

TEST_F(Simulate, WhatIsNoRegularFileIsWrittenDirectly) {
  const auto full = start({"--svg", "/dev/full"});
  EXPECT_EQ(full->wait(), 69);
  EXPECT_NE(full->err().find("--svg: cannot write /dev/full"), std::string::npos) << full->err();
  EXPECT_NE(full->out(), "");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));

  const std::string path = dir_ / "writers.svg";
  table({"--svg", path});
  const std::string both = dir_ / "both";
  Process piped(logs_, {"/bin/sh", "-c",
                        "\"$0\" simulate writers --writers 3 --rounds 1 --svg /dev/stdout | "
                        "cat > \"$1\"",
                        tenure_binary(), both});
  EXPECT_EQ(piped.wait(), 0) << piped.err();
  EXPECT_EQ(read_file(both), table() + read_file(path));
}

}  // namespace
}  // namespace tenure::test
