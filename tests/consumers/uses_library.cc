// Copyright 2026 The tenure authors
// SPDX-License-Identifier: Apache-2.0
//
// What a user's program might be: built outside of the tree, in each way in which tenure can be
// had. Leads once, on the store that its argument names.
#include <tenure/election.h>
#include <tenure/runtime.h>
#include <tenure/version.h>

#include <cstdio>
#include <string>

namespace {

int complain(const tenure::Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (tenure::version() != EXPECTED_VERSION) return 2;

  auto runtime = tenure::Runtime::create();
  if (!runtime) return complain(runtime.error());
  auto store = (*runtime)->open_store(argc > 1 ? argv[1] : "memory:");
  if (!store) return complain(store.error());
  auto election = tenure::Election::create(**runtime, *store, {.name = "consumer"});
  if (!election) return complain(election.error());

  bool has_led = false;
  auto led = election->lead([&](const tenure::Leadership& term) {
    has_led = term.held() && term.token() > 0;
    (void)election->stop(std::chrono::seconds(1));
  });
  if (!led) return complain(led.error());
  return has_led ? 0 : 3;
}
