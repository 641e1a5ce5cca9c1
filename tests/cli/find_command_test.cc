// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/find_command.h"

#include "tests/support/temp_dir.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace tenure::cli {
namespace {

using testing::HasSubstr;

std::string script(const test::TempDir& dir, const std::string& text) {
  std::string path = dir.write("script", text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(FindCommand, SearchesAsExecvpDoes) {
  const test::TempDir dir;
  EXPECT_EQ(find_command("/bin/true").error, 0);
  EXPECT_EQ(find_command("/bin/true").path, "/bin/true");
  EXPECT_EQ(find_command("true").error, 0);
  EXPECT_THAT(find_command("true").path, testing::EndsWith("/true"));
  EXPECT_EQ(find_command("no-such-program-anywhere").error, ENOENT);
  EXPECT_EQ(find_command(dir / "missing").error, ENOENT);
  EXPECT_EQ(find_command(dir.write("plain", "text")).error, EACCES);
  EXPECT_EQ(find_command(dir.path().string()).error, EACCES);
  EXPECT_EQ(find_command("").error, ENOENT);
}

TEST(FindCommand, OnlyAMissingCommandCountsAsMissing) {
  const test::TempDir dir;
  EXPECT_TRUE(find_command(dir / "missing").is_missing());
  EXPECT_TRUE(find_command(dir.write("file", "") + "/below").is_missing());
  EXPECT_FALSE(find_command(dir.write("plain", "text")).is_missing());
  EXPECT_FALSE(find_command(script(dir, "#!/no/such/interpreter\n")).is_missing());
  EXPECT_FALSE(find_command("/bin/true").is_missing());
}

TEST(FindCommand, LooksAtTheInterpreterOfAScript) {
  const test::TempDir dir;
  for (const std::string line :
       {"#!/bin/sh\n", "#! \t/bin/sh\t-e\n", "#!/bin/sh -x y", "#!\n", ""}) {
    const FoundCommand found = find_command(script(dir, line));
    EXPECT_EQ(found.error, 0) << line << ": " << found.interpreter;
  }
  for (const std::string line : {"#!/no/such/sh\n", "#!  /no/such/sh -e\nmore\n"}) {
    const FoundCommand found = find_command(script(dir, line));
    EXPECT_EQ(found.error, ENOENT) << line;
    EXPECT_EQ(found.interpreter, "/no/such/sh") << line;
  }
  EXPECT_EQ(find_command(script(dir, "#!" + dir.write("plain", "x") + "\n")).error, EACCES);
  EXPECT_EQ(find_command(script(dir, "#!" + dir.path().string() + " x\n")).error, EACCES);
}

TEST(FindCommand, SaysWhatIsWrong) {
  const test::TempDir dir;
  const std::string missing = dir / "missing";
  EXPECT_THAT(describe_failure("x", find_command(missing), ENOENT),
              testing::AllOf(HasSubstr("'x'"), HasSubstr("No such file")));
  const std::string bad = script(dir, "#!/no/such/sh\n");
  EXPECT_THAT(describe_failure("x", find_command(bad), ENOENT), HasSubstr("'/no/such/sh'"));
  const std::string plain = script(dir, "text\n");
  EXPECT_THAT(describe_failure("x", find_command(plain), ENOEXEC), HasSubstr("#!"));
  EXPECT_THAT(describe_failure("x", find_command(plain), E2BIG), HasSubstr(std::strerror(E2BIG)));
}

}  // namespace
}  // namespace tenure::cli
