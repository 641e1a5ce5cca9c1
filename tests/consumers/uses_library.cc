// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user's program might be: built outside of the tree, in each way in which tenure can be had.
#include <tenure/options.h>
#include <tenure/version.h>

#include <cstdio>

int main() {
  const auto timing = tenure::validate({.name = "consumer"});
  if (!timing) {
    std::fprintf(stderr, "%s\n", timing.error().message.c_str());
    return 1;
  }
  std::printf("tenure %s\n", std::string(tenure::version()).c_str());
  return tenure::version() == EXPECTED_VERSION ? 0 : 1;
}
