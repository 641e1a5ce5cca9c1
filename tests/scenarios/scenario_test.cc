// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/script.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tenure::core {
namespace {

std::vector<std::string> scenarios() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(TENURE_SCENARIOS)) {
    const auto& path = entry.path();
    if (path.extension() != ".txt" || path.stem() == "CMakeLists") continue;
    names.push_back(path.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Scenario : public testing::TestWithParam<std::string> {};

// TENURE_RECORD_SCENARIOS=1 writes what the machine does into the files: read the difference
// before you commit it.
TEST_P(Scenario, PlaysAsItIsWritten) {
  const std::string path = std::string(TENURE_SCENARIOS) + "/" + GetParam() + ".txt";
  std::ifstream in(path);
  const std::string written{std::istreambuf_iterator<char>(in), {}};
  ASSERT_FALSE(written.empty()) << path;
  const std::string played = Script().play(written);
  if (std::getenv("TENURE_RECORD_SCENARIOS") != nullptr) {
    std::ofstream(path) << played;
    return;
  }
  EXPECT_EQ(played, written);
}

INSTANTIATE_TEST_SUITE_P(All, Scenario, testing::ValuesIn(scenarios()), [](const auto& name) {
  std::string text = name.param;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
});

TEST(Scenarios, AreAllThere) { EXPECT_GE(scenarios().size(), 15U); }

}  // namespace
}  // namespace tenure::core
